/* After the last store: processes in order of rank, configurations in runs by kernel, sums. All of it is
 * counting sorts over index arrays, linear in the number of records. */
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "names.h"
#include "store.h"

/* --- processes ----------------------------------------------------------------------------------------- */

static int by_rank_then_start(const void *left, const void *right, void *context)
{
    const struct merged_process *processes = context;
    const struct merged_process *a = &processes[*(const uint32_t *)left],
                                *b = &processes[*(const uint32_t *)right];
    uint32_t a_rank = (uint32_t)a->rank, b_rank = (uint32_t)b->rank; /* unknown (-1) last */
    if (a_rank != b_rank) {
        return a_rank < b_rank ? -1 : 1;
    }
    if (a->start_realtime_ns != b->start_realtime_ns) {
        return a->start_realtime_ns < b->start_realtime_ns ? -1 : 1;
    }
    int host = strcmp(a->host, b->host);
    return host ? host : (a->pid > b->pid) - (a->pid < b->pid);
}

static uint32_t *identity_order(uint32_t count)
{
    uint32_t *order = malloc(((size_t)count + 1) * sizeof *order);
    for (uint32_t i = 0; order && i < count; i++) {
        order[i] = i;
    }
    return order;
}

/* position[old] = new */
static uint32_t *positions_of(const uint32_t *order, uint32_t count)
{
    uint32_t *position = malloc(((size_t)count + 1) * sizeof *position);
    for (uint32_t i = 0; position && i < count; i++) {
        position[order[i]] = i;
    }
    return position;
}

static void processes_permute(struct merged *merged, struct merged_process *sorted, const uint32_t *order,
                              const uint32_t *position)
{
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        sorted[i] = merged->processes[order[i]];
    }
    for (uint32_t i = 0; i < merged->shares_count; i++) {
        merged->shares[i].process = position[merged->shares[i].process];
    }
    free(merged->processes);
    merged->processes = sorted;
}

static bool processes_sort(struct merged *merged)
{
    uint32_t count = merged->processes_count;
    uint32_t *order = identity_order(count);
    struct merged_process *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    uint32_t *position = NULL;
    if (order && sorted) {
        qsort_r(order, count, sizeof *order, by_rank_then_start, merged->processes);
        position = positions_of(order, count);
    }
    bool held = position != NULL;
    if (held) {
        processes_permute(merged, sorted, order, position);
        sorted = NULL;
    }
    free(order);
    free(position);
    free(sorted);
    return held;
}

/* --- configurations ------------------------------------------------------------------------------------ */

static void launches_sum(struct merged *merged)
{
    for (uint32_t i = 0; i < merged->shares_count; i++) {
        const struct merged_share *share = &merged->shares[i];
        struct merged_configuration *configuration = &merged->configurations[share->configuration];
        configuration->launches = merge_sum(configuration->launches, share->launches);
        configuration->graph_launches = merge_sum(configuration->graph_launches, share->graph_launches);
        configuration->runtime_launches = merge_sum(configuration->runtime_launches, share->runtime_launches);
        configuration->launch_call_ns = merge_sum(configuration->launch_call_ns, share->launch_call_ns);
    }
}

/* Counts, then places: where the run of each kernel begins. What was never launched is left out. */
static void runs_lay(struct merged *merged)
{
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        merged->kernels[merged->configurations[i].kernel].configurations +=
            merged->configurations[i].launches > 0;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < merged->kernels_count; i++) {
        merged->kernels[i].first_configuration = first;
        first += merged->kernels[i].configurations;
    }
}

static uint32_t configurations_place(const struct merged *merged, struct merged_configuration *sorted,
                                     uint32_t *position, uint32_t *next)
{
    uint32_t placed = 0;
    for (uint32_t i = 0; i < merged->kernels_count; i++) {
        next[i] = merged->kernels[i].first_configuration;
    }
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        const struct merged_configuration *configuration = &merged->configurations[i];
        position[i] = MERGED_NONE;
        if (configuration->launches > 0) {
            position[i] = next[configuration->kernel]++;
            sorted[position[i]] = *configuration;
            placed++;
        }
    }
    return placed;
}

static bool configurations_group(struct merged *merged)
{
    size_t count = merged->configurations_count, kernels = merged->kernels_count;
    struct merged_configuration *sorted = calloc(count + 1, sizeof *sorted);
    uint32_t *position = malloc((count + 1) * sizeof *position);
    uint32_t *next = malloc((kernels + 1) * sizeof *next);
    bool held = sorted && position && next;
    if (held) {
        runs_lay(merged);
        merged->configurations_count = configurations_place(merged, sorted, position, next);
        free(merged->configurations);
        merged->configurations = sorted;
        sorted = NULL;
        for (uint32_t i = 0; i < merged->configurations_count; i++) {
            uint32_t *successor = &merged->configurations[i].successor;
            *successor = *successor == MERGED_NONE ? MERGED_NONE : position[*successor];
        }
        for (uint32_t i = 0; i < merged->shares_count; i++) {
            merged->shares[i].configuration = position[merged->shares[i].configuration];
        }
    }
    free(sorted);
    free(position);
    free(next);
    return held;
}

/* --- shares -------------------------------------------------------------------------------------------- */

static bool shares_place(struct merged *merged, bool by_process)
{
    uint32_t groups = by_process ? merged->processes_count : merged->configurations_count;
    struct merged_share *sorted = calloc((size_t)merged->shares_count + 1, sizeof *sorted);
    uint32_t *next = calloc((size_t)groups + 2, sizeof *next);
    uint32_t kept = 0;
    if (!sorted || !next) {
        free(sorted);
        free(next);
        return false;
    }
    for (uint32_t i = 0; i < merged->shares_count; i++) {
        const struct merged_share *share = &merged->shares[i];
        if (share->launches > 0) { /* what was never launched has no place among the configurations */
            next[(by_process ? share->process : share->configuration) + 1]++;
            kept++;
        }
    }
    for (uint32_t i = 0; i < groups; i++) {
        next[i + 1] += next[i];
    }
    for (uint32_t i = 0; i < merged->shares_count; i++) {
        const struct merged_share *share = &merged->shares[i];
        if (share->launches > 0) {
            sorted[next[by_process ? share->process : share->configuration]++] = *share;
        }
    }
    free(merged->shares);
    free(next);
    merged->shares = sorted;
    merged->shares_count = kept;
    return true;
}

static void shares_attach(struct merged *merged)
{
    for (uint32_t i = 0; i < merged->shares_count; i++) {
        struct merged_configuration *configuration = &merged->configurations[merged->shares[i].configuration];
        if (configuration->shares++ == 0) {
            configuration->first_share = i;
        }
    }
}

/* --- kernels and totals -------------------------------------------------------------------------------- */

static void kernel_sum(struct merged *merged, struct merged_kernel *kernel)
{
    kernel->launches = kernel->further_launches;
    kernel->graph_launches = kernel->further_graph_launches;
    kernel->runtime_launches = kernel->further_runtime_launches;
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        const struct merged_configuration *configuration =
            &merged->configurations[kernel->first_configuration + i];
        kernel->launches = merge_sum(kernel->launches, configuration->launches);
        kernel->graph_launches = merge_sum(kernel->graph_launches, configuration->graph_launches);
        kernel->runtime_launches = merge_sum(kernel->runtime_launches, configuration->runtime_launches);
        kernel->launch_call_ns = merge_sum(kernel->launch_call_ns, configuration->launch_call_ns);
    }
}

/* A kernel that was described but never launched is left out; its run of configurations is empty. */
static bool kernels_compact(struct merged *merged)
{
    uint32_t *position = malloc(((size_t)merged->kernels_count + 1) * sizeof *position);
    uint32_t kept = 0;
    if (!position) {
        return false;
    }
    for (uint32_t i = 0; i < merged->kernels_count; i++) {
        kernel_sum(merged, &merged->kernels[i]);
        if (merged->kernels[i].launches > 0) {
            position[i] = kept;
            merged->kernels[kept++] = merged->kernels[i];
        }
    }
    merged->kernels_count = kept;
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        merged->configurations[i].kernel = position[merged->configurations[i].kernel];
    }
    free(position);
    return true;
}

static void devices_sum(struct merged *merged)
{
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        uint64_t *launches = &merged->devices[merged->configurations[i].device].launches;
        *launches = merge_sum(*launches, merged->configurations[i].launches);
    }
}

static int by_host(const void *left, const void *right)
{
    return strcmp(((const struct merged_host *)left)->name, ((const struct merged_host *)right)->name);
}

static bool hosts_sum(struct merged *merged)
{
    struct merged_host *hosts = malloc(((size_t)merged->processes_count + 1) * sizeof *hosts);
    if (!hosts) {
        return false;
    }
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        const struct merged_process *process = &merged->processes[i];
        hosts[i] = (struct merged_host){process->host, 1, process->launches, process->graph_launches};
    }
    qsort(hosts, merged->processes_count, sizeof *hosts, by_host);
    uint32_t count = 0;
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        if (count == 0 || by_host(&hosts[count - 1], &hosts[i]) != 0) {
            hosts[count++] = hosts[i];
            continue;
        }
        hosts[count - 1].processes++;
        hosts[count - 1].launches = merge_sum(hosts[count - 1].launches, hosts[i].launches);
        hosts[count - 1].graph_launches = merge_sum(hosts[count - 1].graph_launches, hosts[i].graph_launches);
    }
    merged->hosts = hosts;
    merged->hosts_count = count;
    return true;
}

static void measured_add(struct measured_count *count, const struct store_measurement *measured)
{
    count->timing = merge_sum(count->timing, measured->samples_timing);
    count->set_a = merge_sum(count->set_a, measured->samples_a);
    count->set_b = merge_sum(count->set_b, measured->samples_b);
}

static void totals_sum(struct merged *merged)
{
    struct merged_totals *totals = &merged->totals;
    totals->kernels = merged->kernels_count;
    totals->configurations = merged->configurations_count;
    totals->times_known = merged->processes_count > 0;
    measured_add(&totals->measured, &totals->graphs);
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        measured_add(&totals->measured, &merged->configurations[i].measured);
    }
    totals->runtime_known = merged->processes_count == 0;
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        const struct merged_process *process = &merged->processes[i];
        totals->launches = merge_sum(totals->launches, process->launches);
        totals->graph_launches = merge_sum(totals->graph_launches, process->graph_launches);
        totals->runtime_launches = merge_sum(totals->runtime_launches, process->runtime_launches);
        totals->lost = merge_sum(totals->lost, process->lost);
        totals->uncounted = merge_sum(totals->uncounted, merged_uncounted(process));
        totals->further = merge_sum(totals->further, process->further);
        totals->filtered = merge_sum(totals->filtered, process->filtered);
        totals->hook_samples = merge_sum(totals->hook_samples, process->hook_samples);
        totals->hook_ns = merge_sum(totals->hook_ns, process->hook_ns);
        totals->hook_new = merge_sum(totals->hook_new, process->hook_new);
        totals->hook_new_ns = merge_sum(totals->hook_new_ns, process->hook_new_ns);
        totals->launch_call_ns = merge_sum(totals->launch_call_ns, process->launch_call_ns);
        totals->gaps = merge_sum(totals->gaps, process->gaps);
        totals->gap_ns = merge_sum(totals->gap_ns, process->gap_ns);
        totals->measuring_ns = merge_sum(totals->measuring_ns, process->measuring_ns);
        totals->measuring_known =
            totals->measuring_known || process->features & (STORE_FEATURE_TIMING | STORE_FEATURE_COUNTERS);
        totals->runtime_known = totals->runtime_known || !(process->features & STORE_FEATURE_CALLBACKS);
        totals->times_known = totals->times_known && process->features & STORE_FEATURE_TIMES;
        for (int bucket = 0; bucket < 24; bucket++) {
            totals->gap_histogram[bucket] =
                merge_sum(totals->gap_histogram[bucket], process->gap_histogram[bucket]);
        }
    }
}

bool merged_finish(struct merged *merged)
{
    if (!processes_sort(merged)) {
        return false;
    }
    launches_sum(merged);
    if (!shares_place(merged, true) || !configurations_group(merged) || !shares_place(merged, false) ||
        !kernels_compact(merged)) {
        return false;
    }
    shares_attach(merged);
    devices_sum(merged);
    totals_sum(merged);
    return hosts_sum(merged) && names_assign(merged);
}
