/* A quoted CSV field. */
#ifndef WARPWATCH_SCAN_CSV_TEXT_H
#define WARPWATCH_SCAN_CSV_TEXT_H

#include <stdio.h>

void csv_text(FILE *stream, const char *text);

#endif
