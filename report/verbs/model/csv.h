/* Reading CSV (RFC 4180) as a stream: quoted fields, CRLF, lines of any reasonable length. */
#ifndef WARPWATCH_MODEL_CSV_H
#define WARPWATCH_MODEL_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CSV_FIELDS_MAX = 256, CSV_RECORD_BYTES_MAX = 1 << 20 };

enum csv_status { CSV_RECORD, CSV_END, CSV_FAULT };

struct csv_reader {
    FILE *stream;
    char *buffer;
    size_t begin, end, capacity;
    bool finished;
    uint64_t line; /* of the last record's start, from 1 */
    uint64_t lines;
    const char *fault;
    size_t count;
    char *fields[CSV_FIELDS_MAX]; /* terminated, unquoted, without blanks around; until the next read */
    bool cut;                     /* a NUL in the record: its field is shorter than it was */
};

bool csv_open(struct csv_reader *reader, FILE *stream);
/* The next record; empty lines are passed over. CSV_FAULT: `fault` says why, at `line`. */
enum csv_status csv_read(struct csv_reader *reader);
void csv_close(struct csv_reader *reader);

#endif
