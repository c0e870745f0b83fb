/* Text in a growing buffer: rows are made in it and flushed, so that memory does not grow with the report. */
#ifndef WARPWATCH_BUFFER_H
#define WARPWATCH_BUFFER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct buffer {
    char *bytes;
    size_t length, capacity;
    bool failed; /* out of memory: what is there is not to be used */
};

void buffer_append(struct buffer *buffer, const char *bytes, size_t length);
void buffer_puts(struct buffer *buffer, const char *text);
void buffer_char(struct buffer *buffer, char c);
void buffer_unsigned(struct buffer *buffer, uint64_t number);
void buffer_signed(struct buffer *buffer, int64_t number);
void buffer_number(struct buffer *buffer, double number); /* finite; reads back the same */

/* Writes and empties it. */
void buffer_flush(struct buffer *buffer, FILE *out);
void buffer_free(struct buffer *buffer);

#endif
