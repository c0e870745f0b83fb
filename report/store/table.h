/* A hash table from content to index, for finding the merged record that equals a new one. */
#ifndef WARPWATCH_TABLE_H
#define WARPWATCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
    struct table_slot *slots;
    uint32_t capacity, used; /* capacity: a power of two, or 0 */
    uint64_t seed;
};

typedef bool table_equal(const void *context, uint32_t index, const void *key);

void table_open(struct table *table);
uint64_t table_hash(const struct table *table, const void *bytes, size_t count);

/* The index stored for an equal key, else `fresh` after storing it; UINT32_MAX: out of memory. */
uint32_t table_intern(struct table *table, uint64_t hash, uint32_t fresh, table_equal *equal,
                      const void *context, const void *key);
void table_free(struct table *table);

#endif
