/* Rows of many kernels: rendered on all processors, written in the order of the file. */
#ifndef WARPWATCH_SCAN_ROWS_H
#define WARPWATCH_SCAN_ROWS_H

#include "view.h"

/* One row, with whatever stands between it and the row before. Called from several threads. */
typedef void scan_row_writer(FILE *stream, const struct scan_view *view, const struct scan_file *file,
                             size_t index);
void scan_rows_write(const struct scan_view *view, const struct scan_file *file, scan_row_writer *write);

#endif
