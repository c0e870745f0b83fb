/* Kernels of two files paired by name and architecture. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "report/names/demangle.h"
#include "summary.h"

const char *const scan_figure_names[SCAN_FIGURES] = {"registers", "static_shared", "stack", "barriers",
                                                     "occupancy"};

/* One kernel of one of the files. */
struct side {
    const char *name;
    const struct scan_kernel *kernel;
    const struct scan_verdict *verdict;
};

struct sides {
    struct scan_summary summary;
    struct side *at;
    size_t count;
};

static int compare_sides(const struct side *a, const struct side *b)
{
    int order = strcmp(a->name, b->name);
    order = order ? order : (a->kernel->sm > b->kernel->sm) - (a->kernel->sm < b->kernel->sm);
    return order ? order : (int)a->kernel->variant - (int)b->kernel->variant;
}

/* Equal names keep the order of the file, so that the n-th of one build meets the n-th of the other. */
static int by_name(const void *left, const void *right)
{
    const struct side *a = left, *b = right;
    int order = compare_sides(a, b);
    return order ? order : (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

/* The full name does not hold the hash of the source file that mangled static names do. */
static bool list_sides(const struct scan_file *file, const struct scan_question *question,
                       struct scan_comparison *comparison, struct sides *sides)
{
    if (!scan_summarize(file, question, &sides->summary)) {
        return false;
    }
    sides->at = calloc(sides->summary.judged_count + 1, sizeof *sides->at);
    for (size_t i = 0; sides->at && i < sides->summary.judged_count; i++) {
        const struct scan_judged *judged = &sides->summary.judged[i];
        char *name = demangle_full(judged->kernel->mangled);
        if (!name) {
            return false;
        }
        comparison->names[comparison->names_count++] = name;
        sides->at[sides->count++] = (struct side){name, judged->kernel, &judged->verdict};
    }
    if (sides->at) {
        qsort(sides->at, sides->count, sizeof *sides->at, by_name);
    }
    return sides->at != NULL;
}

static struct scan_figures figures_of(const struct side *side)
{
    const struct scan_kernel *kernel = side->kernel;
    bool resources = scan_has_resources(kernel);
    return (struct scan_figures){
        .known = {kernel->valid & CUBIN_HAS_REGISTERS, resources, kernel->valid & CUBIN_HAS_STACK, resources,
                  side->verdict->known},
        .at = {kernel->registers_per_thread, kernel->static_shared_bytes, kernel->stack_bytes,
               kernel->barriers, side->verdict->occupancy.theoretical_occupancy},
    };
}

static bool figures_differ(const struct scan_figures *old, const struct scan_figures *new)
{
    for (int i = 0; i < SCAN_FIGURES; i++) {
        if (old->known[i] != new->known[i] || (old->known[i] && old->at[i] != new->at[i])) {
            return true;
        }
    }
    return false;
}

static void add_pair(struct scan_comparison *comparison, const struct side *before, const struct side *after)
{
    struct scan_pair *pair = &comparison->pairs[comparison->count++];
    *pair = (struct scan_pair){0};
    if (before) {
        pair->name = before->name;
        pair->before = before->kernel;
        pair->old_figures = figures_of(before);
    }
    if (after) {
        pair->name = after->name;
        pair->after = after->kernel;
        pair->new_figures = figures_of(after);
    }
    pair->changed = before && after && figures_differ(&pair->old_figures, &pair->new_figures);
    comparison->changed += pair->changed;
    comparison->added += !before;
    comparison->removed += !after;
}

static void pair_sides(struct scan_comparison *comparison, const struct sides *old, const struct sides *new)
{
    size_t i = 0, k = 0;
    while (i < old->count || k < new->count) {
        int order = i == old->count ? 1 : k == new->count ? -1 : compare_sides(&old->at[i], &new->at[k]);
        add_pair(comparison, order <= 0 ? &old->at[i] : NULL, order >= 0 ? &new->at[k] : NULL);
        i += order <= 0;
        k += order >= 0;
    }
}

/* Changed kernels, then added, then removed ones. */
static int rank_of(const struct scan_pair *pair)
{
    return !pair->before ? 1 : !pair->after ? 2 : pair->changed ? 0 : 3;
}

static double growth(const struct scan_pair *pair, enum scan_figure figure)
{
    bool known = pair->old_figures.known[figure] && pair->new_figures.known[figure];
    return known ? pair->new_figures.at[figure] - pair->old_figures.at[figure] : 0;
}

/* Occupancy lost, then registers and stack gained. */
static int worst_first(const void *left, const void *right)
{
    static const enum scan_figure order[] = {FIGURE_REGISTERS, FIGURE_STACK, FIGURE_STATIC_SHARED};
    const struct scan_pair *a = left, *b = right;
    if (rank_of(a) != rank_of(b)) {
        return rank_of(a) - rank_of(b);
    }
    double difference = growth(a, FIGURE_OCCUPANCY) - growth(b, FIGURE_OCCUPANCY);
    for (size_t i = 0; i < sizeof order / sizeof *order && difference == 0; i++) {
        difference = growth(b, order[i]) - growth(a, order[i]);
    }
    return difference != 0 ? (difference > 0) - (difference < 0) : strcmp(a->name, b->name);
}

bool scan_compare(const struct scan_file *before, const struct scan_file *after,
                  const struct scan_question *question, struct scan_comparison *comparison)
{
    size_t most = before->kernels_count + after->kernels_count + 1;
    struct sides old = {0}, new = {0};
    *comparison = (struct scan_comparison){0};
    comparison->names = calloc(most, sizeof *comparison->names);
    comparison->pairs = calloc(most, sizeof *comparison->pairs);
    bool listed = comparison->names && comparison->pairs && list_sides(before, question, comparison, &old) &&
                  list_sides(after, question, comparison, &new);
    if (listed) {
        pair_sides(comparison, &old, &new);
        qsort(comparison->pairs, comparison->count, sizeof *comparison->pairs, worst_first);
    }
    scan_summary_free(&old.summary);
    scan_summary_free(&new.summary);
    free(old.at);
    free(new.at);
    return listed;
}

void scan_comparison_free(struct scan_comparison *comparison)
{
    for (size_t i = 0; i < comparison->names_count; i++) {
        free(comparison->names[i]);
    }
    free(comparison->names);
    free(comparison->pairs);
}
