/* Ranks are expected to launch the same mix: those that launched a kernel more or less often than most did
 * are named. Only for runs of three ranks or more, where "most" means something. */
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "ranks.h"

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Launches of the kernel by each process, `further` aside: it is not kept by process. */
static void count_by_process(const struct merged *merged, const struct merged_kernel *kernel,
                             uint64_t *launches)
{
    memset(launches, 0, merged->processes_count * sizeof *launches);
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        const struct merged_configuration *configuration =
            &merged->configurations[kernel->first_configuration + i];
        for (uint32_t j = 0; j < configuration->shares; j++) {
            const struct merged_share *share = &merged->shares[configuration->first_share + j];
            launches[share->process] = merge_sum(launches[share->process], share->launches);
        }
    }
}

struct usual {
    uint64_t launches;
    uint32_t ranks;
};

/* Processes without a rank are helpers, not peers; of a damaged store it is not known what the rank launched.
 */
static bool is_peer(const struct merged_process *process)
{
    return process->rank >= 0 && !process->damage && process->lost == 0;
}

/* The median and how many launched exactly that. */
static struct usual usual_of(const struct merged *merged, const uint64_t *launches, uint64_t *sorted)
{
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        if (is_peer(&merged->processes[i])) {
            sorted[ranks++] = launches[i];
        }
    }
    qsort(sorted, ranks, sizeof *sorted, by_number);
    struct usual usual = {.launches = sorted[ranks / 2]};
    for (uint32_t i = 0; i < ranks; i++) {
        usual.ranks += sorted[i] == usual.launches;
    }
    return usual;
}

static bool odd_append(struct merged *merged, struct merged_odd_rank odd)
{
    if (!merge_reserve((void **)&merged->odd_ranks, &merged->merge->odd_ranks_capacity,
                       merged->odd_ranks_count, sizeof odd)) {
        return false;
    }
    merged->odd_ranks[merged->odd_ranks_count++] = odd;
    return true;
}

/* Odd only where more than half of the ranks agree: kernels whose launches vary from rank to rank name
 * nobody. */
static bool kernel_compare(struct merged *merged, uint32_t kernel, uint32_t ranks, uint64_t *launches,
                           uint64_t *sorted)
{
    count_by_process(merged, &merged->kernels[kernel], launches);
    struct usual usual = usual_of(merged, launches, sorted);
    bool held = true;
    for (uint32_t i = 0; held && 2 * usual.ranks > ranks && i < merged->processes_count; i++) {
        if (is_peer(&merged->processes[i]) && launches[i] != usual.launches) {
            held = odd_append(merged,
                              (struct merged_odd_rank){i, kernel, launches[i], usual.launches, usual.ranks});
        }
    }
    return held;
}

static uint64_t distance(const struct merged_odd_rank *odd)
{
    return odd->launches > odd->usual ? odd->launches - odd->usual : odd->usual - odd->launches;
}

static int by_distance(const void *left, const void *right)
{
    uint64_t a = distance(left), b = distance(right);
    return a != b ? (a < b) - (a > b) : 0;
}

bool ranks_compare(struct merged *merged)
{
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        ranks += is_peer(&merged->processes[i]);
    }
    if (ranks < 3) {
        return true;
    }
    uint64_t *launches = malloc(merged->processes_count * sizeof *launches);
    uint64_t *sorted = malloc(merged->processes_count * sizeof *sorted);
    bool held = launches && sorted;
    for (uint32_t i = 0; held && i < merged->kernels_count; i++) {
        held = kernel_compare(merged, i, ranks, launches, sorted);
    }
    if (held && merged->odd_ranks_count) {
        qsort(merged->odd_ranks, merged->odd_ranks_count, sizeof *merged->odd_ranks, by_distance);
    }
    free(launches);
    free(sorted);
    return held;
}
