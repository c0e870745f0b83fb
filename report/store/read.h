/* One store file: opened, checked, and its records copied out kind by kind.
 *
 * The file is untrusted and may still be written. It is read with pread, never mapped, so that a file that
 * shrinks is an error and not a signal. Whatever is wrong with it becomes one line in `damage`; what can be
 * read is read. Order matters for a live file: ask for what refers before what is referred to (counters,
 * bodies, nodes, configurations, kernels, devices, strings), then no reference is newer than its target. */
#ifndef WARPWATCH_STORE_READ_H
#define WARPWATCH_STORE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/store_format.h"

#define STORE_REASON_BYTES 200

struct store_extent_place {
    uint64_t records_offset; /* in the file */
    uint32_t kind, record_bytes, capacity, owner;
};

struct store_file {
    int fd;
    uint64_t size_bytes;
    struct store_header header;
    bool header_intact; /* `check` holds: host, pid, times and clock can be believed */
    struct store_extent_place *extents;
    uint32_t extents_count, extents_capacity;
    uint64_t end_offset; /* where the next extent would begin */
    bool chain_broken;
    unsigned damages; /* how many things were wrong; `damage` says the first */
    char damage[STORE_REASON_BYTES];
};

/* False: not readable as a store at all, `reason` says why in a few words. */
bool store_file_open(struct store_file *file, const char *path, char reason[STORE_REASON_BYTES]);
void store_file_close(struct store_file *file);

/* Its writer lives: it holds a lock on the file (STORE_FEATURE_LOCKED), as do children forked from it. */
bool store_file_locked(const struct store_file *file);

/* Which records belong to which owner (a shard, for counters and traces). */
struct store_run {
    uint32_t first, count, owner;
};
struct store_records {
    void *records; /* count × the kind's record size, as store_format.h has it */
    uint32_t count;
    struct store_run *runs; /* one an extent, in file order */
    uint32_t runs_count;
};

/* Copies all records of a kind that are complete now. False: out of memory. STORE_STRINGS has its own reader.
 */
bool store_file_records(struct store_file *file, enum store_kind kind, struct store_records *out);
void store_records_free(struct store_records *records);

/* The string as terminated text in malloc'd memory; an embedded NUL ends it. NULL: out of memory or not
 * inside a strings extent, which is then noted as damage. */
char *store_file_string(struct store_file *file, struct store_string string);
/* After the records were read: notes if the file ends before the length that its header states. Not for a
 * process that still runs, which may be between the two. */
void store_file_complete(struct store_file *file);

/* Notes what is wrong; the first message is kept, the others are counted. */
void store_file_note(struct store_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
