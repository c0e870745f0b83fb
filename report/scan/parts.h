/* What the texts of a scan are put together from. */
#ifndef WARPWATCH_SCAN_PARTS_H
#define WARPWATCH_SCAN_PARTS_H

#include <stdint.h>
#include <stdio.h>

/* `format` takes a %s: "1,234,567". */
void print_count(FILE *stream, const char *format, uint64_t number);
/* "1 kernel", "2,000 kernels" */
void print_counted(FILE *stream, uint64_t number, const char *noun);
/* From a file: what a terminal would obey is spelled out. */
void print_visible(FILE *stream, const char *text);
/* The same as a field of CSV. */
void print_quoted(FILE *stream, const char *text);

#endif
