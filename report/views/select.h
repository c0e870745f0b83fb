/* Which kernels a report shows, and in which order. */
#ifndef WARPWATCH_SELECT_H
#define WARPWATCH_SELECT_H

#include <regex.h>

#include "store/merged.h"

/* Keeps the kernels whose name, short or mangled name matches `kernel` (NULL: all) and puts kernels and each
 * one's configurations in order: by `sort`, a field that select_sortable accepts, or, NULL, what wastes most
 * first. Before findings are computed, since it moves records. False: out of memory. */
bool merged_select(struct merged *merged, const regex_t *kernel, const char *sort);

bool select_sortable(const char *field);
/* The accepted names, joined by ", ". The caller frees; NULL: out of memory. */
char *select_sortable_list(void);

#endif
