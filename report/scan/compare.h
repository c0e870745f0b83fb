/* Two builds of the same kernels: what changed in their resources. */
#ifndef WARPWATCH_SCAN_COMPARE_H
#define WARPWATCH_SCAN_COMPARE_H

#include "judge.h"

enum scan_figure { FIGURE_REGISTERS, FIGURE_STATIC_SHARED, FIGURE_STACK, FIGURE_BARRIERS, FIGURE_OCCUPANCY };
#define SCAN_FIGURES 5
/* "registers", "static_shared", "stack", "barriers", "occupancy" */
extern const char *const scan_figure_names[SCAN_FIGURES];

struct scan_figures {
    bool known[SCAN_FIGURES];
    double at[SCAN_FIGURES];
};

/* A kernel in the one build, in the other, or in both. */
struct scan_pair {
    const char *name;                         /* full */
    const struct scan_kernel *before, *after; /* NULL: not there */
    struct scan_figures old_figures, new_figures;
    bool changed; /* both are there and a figure differs */
};

struct scan_comparison {
    struct scan_pair *pairs; /* worst first: changed, added, removed, the same */
    size_t count, changed, added, removed;
    char **names; /* the full names that the pairs refer to */
    size_t names_count;
};

/* Kernels match by full name and architecture; relocatable copies of linked kernels are left out. False: out
 * of memory. The comparison refers to both files. */
bool scan_compare(const struct scan_file *before, const struct scan_file *after,
                  const struct scan_question *question, struct scan_comparison *comparison);
void scan_comparison_free(struct scan_comparison *comparison);

/* --- what a build must not do: 'registers>+8', 'stack>0', 'occupancy<-0.1', 'registers>+10%' ---------------
 */

struct scan_condition {
    const char *text;
    enum scan_figure figure;
    bool below;    /* `<` instead of `>` */
    bool change;   /* against the other build, instead of the figure itself */
    bool relative; /* in percent of the other build */
    double limit;
};

/* False: not a condition. `text` must outlive it. */
bool scan_condition_parse(const char *text, struct scan_condition *condition);
/* A change is only ever met by kernels that are in both builds. */
bool scan_condition_met(const struct scan_condition *condition, const struct scan_pair *pair);

#endif
