/* Numbers are written by hand: reports have millions of them. */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "number_text.h"

void buffer_append(struct buffer *buffer, const char *bytes, size_t length)
{
    if (length == 0) {
        return; /* nothing may have been allocated yet */
    }
    if (buffer->length + length > buffer->capacity) {
        size_t capacity = 2 * (buffer->length + length) + 256;
        char *grown = realloc(buffer->bytes, capacity);
        if (!grown) {
            buffer->failed = true;
            return;
        }
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
}

void buffer_puts(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_char(struct buffer *buffer, char c)
{
    buffer_append(buffer, &c, 1);
}

void buffer_unsigned(struct buffer *buffer, uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    buffer_append(buffer, digits + at, sizeof digits - at);
}

void buffer_signed(struct buffer *buffer, int64_t number)
{
    if (number < 0) {
        buffer_char(buffer, '-');
    }
    buffer_unsigned(buffer, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void buffer_number(struct buffer *buffer, double number)
{
    char digits[NUMBER_TEXT_BYTES];
    buffer_append(buffer, digits, number_text(number, digits));
}

void buffer_flush(struct buffer *buffer, FILE *out)
{
    if (!buffer->failed) {
        fwrite(buffer->bytes, 1, buffer->length, out);
    }
    buffer->length = 0;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}
