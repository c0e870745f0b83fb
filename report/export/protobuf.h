/* As much of protobuf's wire format as it takes to write messages: numbers, strings, messages within
 * messages. */
#ifndef WARPWATCH_EXPORT_PROTOBUF_H
#define WARPWATCH_EXPORT_PROTOBUF_H

#include <string.h>

#include "buffer.h"

enum { PROTOBUF_NUMBER = 0, PROTOBUF_BYTES = 2 }; /* wire types */

static inline size_t protobuf_encode(uint64_t number, char bytes[10])
{
    size_t length = 0;
    for (; number >> 7; number >>= 7) {
        bytes[length++] = (char)(0x80 | (number & 0x7f));
    }
    bytes[length++] = (char)number;
    return length;
}

static inline void protobuf_varint(struct buffer *buffer, uint64_t number)
{
    char bytes[10];
    buffer_append(buffer, bytes, protobuf_encode(number, bytes));
}

static inline void protobuf_number(struct buffer *buffer, uint32_t field, uint64_t number)
{
    protobuf_varint(buffer, field << 3 | PROTOBUF_NUMBER);
    protobuf_varint(buffer, number);
}

static inline void protobuf_string(struct buffer *buffer, uint32_t field, const char *text)
{
    size_t length = strlen(text);
    protobuf_varint(buffer, field << 3 | PROTOBUF_BYTES);
    protobuf_varint(buffer, length);
    buffer_append(buffer, text, length);
}

/* A message within: what is written until it is closed. Most are short, so one byte is kept for the length.
 */
static inline size_t protobuf_open(struct buffer *buffer, uint32_t field)
{
    protobuf_varint(buffer, field << 3 | PROTOBUF_BYTES);
    buffer_char(buffer, 0);
    return buffer->length;
}

static inline void protobuf_close(struct buffer *buffer, size_t start)
{
    if (buffer->failed) {
        return;
    }
    char bytes[10];
    size_t content = buffer->length - start, length = protobuf_encode(content, bytes);
    buffer_append(buffer, bytes, length - 1);
    if (!buffer->failed) {
        memmove(buffer->bytes + start - 1 + length, buffer->bytes + start, content);
        memcpy(buffer->bytes + start - 1, bytes, length);
    }
}

#endif
