/* Text in a CSV file (RFC 4180). */
#ifndef WARPWATCH_CSV_TEXT_H
#define WARPWATCH_CSV_TEXT_H

#include "buffer.h"

/* One field: in quotes, those within doubled. */
void csv_quoted(struct buffer *row, const char *text);

/* The same, in quotes only where it must be. */
void csv_field(struct buffer *row, const char *text);

#endif
