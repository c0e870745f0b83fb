/* The list of kernels in the text, the worst first. */
#ifndef WARPWATCH_SCAN_VIEW_LIST_H
#define WARPWATCH_SCAN_VIEW_LIST_H

#include "summary.h"
#include "view.h"

void scan_list_print(const struct scan_view *view, const struct scan_summary *summary);

#endif
