/* CSV taken apart. */
#include "verbs/model/csv.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 16 };

bool csv_open(struct csv_reader *reader, FILE *stream)
{
    *reader = (struct csv_reader){.stream = stream, .capacity = FIRST_CAPACITY};
    reader->buffer = malloc(FIRST_CAPACITY + 1);
    return reader->buffer != NULL;
}

void csv_close(struct csv_reader *reader)
{
    free(reader->buffer);
}

static enum csv_status fault(struct csv_reader *reader, const char *why)
{
    reader->fault = why;
    return CSV_FAULT;
}

/* More bytes behind what is there, which moves to the front. */
static bool refill(struct csv_reader *reader)
{
    memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    if (reader->end == reader->capacity) {
        char *larger = realloc(reader->buffer, reader->capacity * 2 + 1);
        if (!larger) {
            return false;
        }
        reader->buffer = larger;
        reader->capacity *= 2;
    }
    size_t got = fread(reader->buffer + reader->end, 1, reader->capacity - reader->end, reader->stream);
    reader->end += got;
    reader->finished = got == 0;
    return true;
}

/* Where the record that starts at `begin` ends: a line break outside quotes. */
static bool find_end(struct csv_reader *reader, size_t *end)
{
    bool quoted = false;
    for (size_t offset = 0;;) {
        for (; reader->begin + offset < reader->end; offset++) {
            char c = reader->buffer[reader->begin + offset];
            quoted ^= c == '"';
            if (c == '\n') {
                reader->lines++;
                if (!quoted) {
                    *end = reader->begin + offset;
                    return true;
                }
            }
        }
        if (reader->finished) {
            *end = reader->end;
            return true;
        }
        if (offset > CSV_RECORD_BYTES_MAX || !refill(reader)) {
            return false;
        }
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the quotes off in place. Text behind the closing quote is kept, as spreadsheets do, blanks are not.
 */
static char *unquote(char *c, char **field)
{
    char *out = ++c;
    *field = out;
    for (; *c && (*c != '"' || *++c == '"'); c++) {
        *out++ = *c;
    }
    for (; *c && *c != ','; c++) {
        if (!is_blank(*c)) {
            *out++ = *c;
        }
    }
    bool more = *c == ',';
    *out = 0;
    return more ? c + 1 : NULL;
}

static char *plain(char *c, char **field)
{
    *field = c;
    char *separator = strchr(c, ',');
    char *end = separator ? separator : c + strlen(c);
    while (end > c && is_blank(end[-1])) {
        end--;
    }
    *end = 0;
    return separator ? separator + 1 : NULL;
}

static bool split(struct csv_reader *reader, char *record)
{
    for (reader->count = 0; record; reader->count++) {
        if (reader->count == CSV_FIELDS_MAX) {
            return false;
        }
        while (is_blank(*record)) {
            record++;
        }
        char **field = &reader->fields[reader->count];
        record = *record == '"' ? unquote(record, field) : plain(record, field);
    }
    return true;
}

static void skip_byte_order_mark(struct csv_reader *reader)
{
    if (reader->end - reader->begin >= 3 && memcmp(reader->buffer + reader->begin, "\xef\xbb\xbf", 3) == 0) {
        reader->begin += 3;
    }
}

enum csv_status csv_read(struct csv_reader *reader)
{
    for (;;) {
        size_t end;
        bool first = reader->lines == 0;
        reader->line = reader->lines + 1;
        if (!find_end(reader, &end)) {
            return fault(reader, "a record of more than 1 MiB");
        }
        if (first) {
            skip_byte_order_mark(reader);
        }
        if (reader->begin == reader->end && reader->finished) {
            return ferror(reader->stream) ? fault(reader, "could not be read") : CSV_END;
        }
        char *record = reader->buffer + reader->begin;
        size_t length = end - reader->begin;
        reader->begin = end < reader->end ? end + 1 : end;
        record[length] = 0; /* the buffer has a byte to spare */
        reader->cut = strlen(record) != length;
        while (length && record[length - 1] == '\r') {
            record[--length] = 0;
        }
        if (!length) {
            continue;
        }
        return split(reader, record) ? CSV_RECORD : fault(reader, "more than 256 fields");
    }
}
