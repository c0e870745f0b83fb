/* Text from untrusted files made safe to show: what a terminal, a browser or an eye would obey or not see is
 * spelled out. */
#ifndef WARPWATCH_VISIBLE_H
#define WARPWATCH_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

/* Valid UTF-8 without control, bidirectional or invisible characters: those become \x1b or \u202e, a byte
 * that is not UTF-8 \xff. The caller frees; NULL only when memory is out. */
char *visible(const char *text);

/* True if visible() would return the text unchanged. */
bool is_visible(const char *text);

/* Valid UTF-8, otherwise unchanged: for JSON, which has its own escapes. The caller frees. */
char *valid_utf8(const char *text);

/* Columns that visible text takes in a terminal: one a character, two for East Asian wide ones, none for
 * combining marks. */
size_t visible_columns(const char *text);

/* The length in bytes of the longest start of `text` that fits `columns`. */
size_t visible_bytes_within(const char *text, size_t columns);

#endif
