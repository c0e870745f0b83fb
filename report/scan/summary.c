/* Sums over the kernels of a file and their order. */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

/* Names together, by architecture, linked before pre-link. */
static int by_name(const void *left, const void *right)
{
    const struct scan_kernel *a = *(const struct scan_kernel *const *)left;
    const struct scan_kernel *b = *(const struct scan_kernel *const *)right;
    int order = strcmp(a->mangled, b->mangled);
    order = order ? order : compare_numbers(a->sm, b->sm);
    order = order ? order : (int)a->variant - (int)b->variant;
    return order ? order : (int)a->origin - (int)b->origin;
}

static bool same_name_and_arch(const struct scan_kernel *a, const struct scan_kernel *b)
{
    return strcmp(a->mangled, b->mangled) == 0 && a->sm == b->sm && a->variant == b->variant;
}

static bool any_prelink(const struct scan_file *file)
{
    for (size_t i = 0; i < file->kernels_count; i++) {
        if (file->kernels[i].origin == ORIGIN_PRELINK) {
            return true;
        }
    }
    return false;
}

/* Kernels to judge, without the relocatable copies of linked ones. */
static size_t without_copies(const struct scan_file *file, const struct scan_kernel **kept)
{
    size_t count = 0;
    for (size_t i = 0; i < file->kernels_count; i++) {
        kept[i] = &file->kernels[i];
    }
    if (!any_prelink(file)) {
        return file->kernels_count;
    }
    qsort(kept, file->kernels_count, sizeof *kept, by_name);
    const struct scan_kernel *linked = NULL;
    for (size_t i = 0; i < file->kernels_count; i++) {
        const struct scan_kernel *kernel = kept[i];
        if (kernel->origin == ORIGIN_LINKED) {
            linked = kernel;
        }
        if (kernel->origin != ORIGIN_PRELINK || !linked || !same_name_and_arch(linked, kernel)) {
            kept[count++] = kernel;
        }
    }
    return count;
}

static uint32_t bounds(const struct scan_kernel *kernel)
{
    return kernel->valid & (CUBIN_HAS_MAX_THREADS | CUBIN_HAS_REQUIRED_BLOCK);
}

static int by_resources(const struct scan_kernel *a, const struct scan_kernel *b)
{
    int order = compare_numbers(b->stack_bytes, a->stack_bytes);
    order = order ? order : compare_numbers(b->registers_per_thread, a->registers_per_thread);
    order = order ? order : compare_numbers(b->static_shared_bytes, a->static_shared_bytes);
    order = order ? order : compare_numbers(b->barriers, a->barriers);
    order = order ? order : compare_numbers(a->max_threads_per_block, b->max_threads_per_block);
    order = order ? order : compare_numbers(bounds(b), bounds(a));
    order = order ? order : compare_numbers(b->sm, a->sm);
    order = order ? order : (int)a->variant - (int)b->variant;
    return order ? order : (int)a->origin - (int)b->origin;
}

static int worst_first(const void *left, const void *right)
{
    const struct scan_judged *a = left, *b = right;
    if (a->verdict.known != b->verdict.known) {
        return a->verdict.known ? -1 : 1;
    }
    double a_reach = a->verdict.occupancy.theoretical_occupancy;
    double b_reach = b->verdict.occupancy.theoretical_occupancy;
    if (a->verdict.known && a_reach != b_reach) {
        return a_reach < b_reach ? -1 : 1;
    }
    int order = by_resources(a->kernel, b->kernel);
    order = order ? order : compare_numbers(a->verdict.block, b->verdict.block);
    return order ? order : strcmp(a->kernel->mangled, b->kernel->mangled);
}

bool scan_same_resources(const struct scan_judged *left, const struct scan_judged *right)
{
    return left->verdict.known == right->verdict.known && left->verdict.block == right->verdict.block &&
           by_resources(left->kernel, right->kernel) == 0;
}

static bool judge_all(const struct scan_file *file, const struct scan_question *question,
                      struct scan_summary *summary)
{
    const struct scan_kernel **kept = malloc((file->kernels_count + 1) * sizeof *kept);
    summary->judged = malloc((file->kernels_count + 1) * sizeof *summary->judged);
    if (!kept || !summary->judged) {
        free(kept);
        return false;
    }
    summary->judged_count = without_copies(file, kept);
    summary->prelink_copies = file->kernels_count - summary->judged_count;
    for (size_t i = 0; i < summary->judged_count; i++) {
        summary->judged[i] = (struct scan_judged){kept[i], scan_judge(kept[i], question)};
        summary->without_resources += !scan_has_resources(kept[i]);
    }
    free(kept);
    qsort(summary->judged, summary->judged_count, sizeof *summary->judged, worst_first);
    return true;
}

static struct scan_arch_summary *arch_of(struct scan_summary *summary, const struct scan_kernel *kernel)
{
    for (size_t i = 0; i < summary->archs_count; i++) {
        struct scan_arch_summary *arch = &summary->archs[i];
        if (arch->sm == kernel->sm && arch->variant == kernel->variant) {
            return arch;
        }
    }
    struct scan_arch_summary *grown =
        realloc(summary->archs, (summary->archs_count + 1) * sizeof *summary->archs);
    if (!grown) {
        return NULL;
    }
    summary->archs = grown;
    grown[summary->archs_count] = (struct scan_arch_summary){.sm = kernel->sm, .variant = kernel->variant};
    return &grown[summary->archs_count++];
}

static void count_in_arch(struct scan_arch_summary *arch, const struct scan_judged *judged)
{
    const struct scan_kernel *kernel = judged->kernel;
    arch->kernels++;
    arch->with_stack += kernel->stack_bytes > 0;
    if (kernel->registers_per_thread > arch->registers_most) {
        arch->registers_most = kernel->registers_per_thread;
    }
    if (kernel->static_shared_bytes > arch->shared_most_bytes) {
        arch->shared_most_bytes = kernel->static_shared_bytes;
    }
    if (judged->verdict.known) {
        double reach = judged->verdict.occupancy.theoretical_occupancy;
        arch->reach[reach <= 0.25 ? 0 : reach <= 0.5 ? 1 : reach <= 0.75 ? 2 : 3]++;
    }
}

static int by_number(const void *left, const void *right)
{
    return compare_numbers(*(const uint32_t *)left, *(const uint32_t *)right);
}

static uint32_t median_registers(const struct scan_summary *summary, const struct scan_arch_summary *arch,
                                 uint32_t *numbers)
{
    size_t count = 0;
    for (size_t i = 0; i < summary->judged_count; i++) {
        const struct scan_kernel *kernel = summary->judged[i].kernel;
        if (scan_has_resources(kernel) && kernel->sm == arch->sm && kernel->variant == arch->variant) {
            numbers[count++] = kernel->registers_per_thread;
        }
    }
    qsort(numbers, count, sizeof *numbers, by_number);
    return count ? numbers[count / 2] : 0;
}

static int by_arch(const void *left, const void *right)
{
    const struct scan_arch_summary *a = left, *b = right;
    return a->sm != b->sm ? compare_numbers(a->sm, b->sm) : (int)a->variant - (int)b->variant;
}

static bool sum_archs(struct scan_summary *summary)
{
    for (size_t i = 0; i < summary->judged_count; i++) {
        if (!scan_has_resources(summary->judged[i].kernel)) {
            continue;
        }
        struct scan_arch_summary *arch = arch_of(summary, summary->judged[i].kernel);
        if (!arch) {
            return false;
        }
        count_in_arch(arch, &summary->judged[i]);
    }
    uint32_t *numbers = malloc((summary->judged_count + 1) * sizeof *numbers);
    for (size_t i = 0; numbers && i < summary->archs_count; i++) {
        summary->archs[i].registers_median = median_registers(summary, &summary->archs[i], numbers);
    }
    free(numbers);
    if (summary->archs_count) {
        qsort(summary->archs, summary->archs_count, sizeof *summary->archs, by_arch);
    }
    return numbers != NULL;
}

static int most_frequent_first(const void *left, const void *right)
{
    const struct scan_limiter_summary *a = left, *b = right;
    return compare_numbers(b->kernels, a->kernels);
}

static bool sum_limiters(struct scan_summary *summary)
{
    summary->limiters = calloc(1u << LIMITER_KINDS, sizeof *summary->limiters);
    if (!summary->limiters) {
        return false;
    }
    for (unsigned set = 0; set < 1u << LIMITER_KINDS; set++) {
        summary->limiters[set].limiters = set;
    }
    for (size_t i = 0; i < summary->judged_count; i++) {
        const struct scan_verdict *verdict = &summary->judged[i].verdict;
        if (verdict->known && verdict->occupancy.theoretical_occupancy >= 1) {
            summary->full++;
        } else if (verdict->known) {
            summary->limiters[verdict->occupancy.limiters].kernels++;
        }
    }
    qsort(summary->limiters, 1u << LIMITER_KINDS, sizeof *summary->limiters, most_frequent_first);
    while (summary->limiters_count < 1u << LIMITER_KINDS &&
           summary->limiters[summary->limiters_count].kernels > 0) {
        summary->limiters_count++;
    }
    return true;
}

bool scan_summarize(const struct scan_file *file, const struct scan_question *question,
                    struct scan_summary *summary)
{
    *summary = (struct scan_summary){0};
    return judge_all(file, question, summary) && sum_archs(summary) && sum_limiters(summary);
}

void scan_summary_free(struct scan_summary *summary)
{
    free(summary->judged);
    free(summary->archs);
    free(summary->limiters);
}
