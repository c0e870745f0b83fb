/* A comparison as text, JSON and CSV. */
#ifndef WARPWATCH_SCAN_VIEW_COMPARE_H
#define WARPWATCH_SCAN_VIEW_COMPARE_H

#include <stdio.h>

#include "compare.h"

struct compare_view {
    FILE *stream;
    const char *before, *after; /* paths */
    const struct scan_comparison *comparison;
    const struct scan_condition *conditions;
    size_t conditions_count;
    size_t top;
};

void compare_view_text(const struct compare_view *view);
void compare_view_json(const struct compare_view *view);
void compare_view_csv(const struct compare_view *view);

/* Kernels that meet a condition. */
size_t compare_failures(const struct compare_view *view, const struct scan_condition *condition);

#endif
