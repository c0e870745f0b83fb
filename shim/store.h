/* The store file as its writer sees it: one mapping that grows at the end. The range is reserved in one piece
 * when the store is made, so records never move; file space is allocated before it is touched, so a full disk
 * is an error code here and not a SIGBUS in the program. All functions but store_record want the recorder's
 * lock.
 */
#ifndef WARPWATCH_STORE_H
#define WARPWATCH_STORE_H

#include "file_identity.h"
#include "platform.h"
#include "store_format.h"

enum { STORE_EXTENTS_PER_KIND = 48 };

/* Where a kind's records lie; not for counters, which belong to shards. */
struct store_run {
    uint32_t records;
    uint32_t extents;
    struct {
        uint64_t offset;
        uint32_t first; /* index of its first record */
        uint32_t capacity;
    } extent[STORE_EXTENTS_PER_KIND];
};

struct store {
    char *base;              /* start of the mapping; NULL when there is no store */
    uint64_t reserved_bytes; /* address range */
    uint64_t allocated_bytes;
    uint64_t used_bytes; /* end of the last extent */
    int file;            /* -1: anonymous memory without a file */
    const char *path;
    struct file_identity identity;
    int failure; /* errno of the first growth that failed */
    bool holes;  /* an extent may be a hole of the file */
    struct store_run runs[STORE_KINDS];
};

extern HIDDEN struct store store;

/* Takes over an open, empty file (-1: none) and lays out an empty store in it. 0 or an errno. `path`, which
 * must last, is where to find the file again if the program closes its descriptor. */
int store_map(int file, const char *path);
void store_unmap(void);
static inline struct store_header *store_header(void)
{
    return (struct store_header *)store.base;
}

/* Appends a record and returns its index, or STORE_NO_TARGET and counts nothing. */
uint32_t store_add(enum store_kind kind, const void *record);
uint32_t store_count(enum store_kind kind);
void *store_record(enum store_kind kind, uint32_t index);
bool store_add_string(const char *text, uint64_t bytes, struct store_string *string);
const char *store_text(const struct store_string *string);

/* A new extent, `used` still 0; NULL if there is no room. */
struct store_extent *store_extend(enum store_kind kind, uint32_t owner, uint64_t bytes);
/* The same, but maybe a hole behind its first page: populate or fill before a byte of it is touched. */
struct store_extent *store_extend_hole(enum store_kind kind, uint32_t owner, uint64_t bytes);
/* From now on holes are made, where the file system is one for it. */
void store_permit_holes(void);
/* Brings pages in, ready to be written. False: they do not come before they are touched, if they are there at
 * all. Not locked. */
bool store_populate(const void *first, const void *end);
/* Allocates what a hole lacks; from now on no more are made. */
bool store_fill(const void *first, const void *end);
/* Is the open file still the store, or has the program closed it and reused the number? */
bool store_owns_file(void);

static inline uint32_t store_offset32(const void *address)
{
    return (uint32_t)((uint64_t)((const char *)address - store.base) / 32);
}

#endif
