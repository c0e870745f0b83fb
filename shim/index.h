/* An index of numbered things by content: open addressing over numbers, twice as many slots as entries at
 * least. The things themselves stay where they are; the caller says how to compare. */
#ifndef WARPWATCH_INDEX_H
#define WARPWATCH_INDEX_H

#include "platform.h"

#define INDEX_NONE UINT32_MAX

struct index {
    uint32_t *slots; /* number + 1; 0 is free */
    uint32_t mask, used;
    uint32_t (*hash_of)(uint32_t number);
    bool (*equal)(uint32_t number, const void *wanted);
};

uint32_t index_find(const struct index *index, uint32_t hash, const void *wanted);
/* False when memory is short; the thing is then not found again. */
bool index_insert(struct index *index, uint32_t hash, uint32_t number);
void index_remove(struct index *index, uint32_t hash, uint32_t number);
void index_clear(struct index *index);

static inline uint32_t index_hash_address(const void *address)
{
    return (uint32_t)(((uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u) >> 32);
}

/* FNV-1a with a final mix: short records, few of them. */
static inline uint32_t index_hash(const void *bytes, size_t count, uint32_t seed)
{
    const unsigned char *p = bytes;
    uint32_t hash = 2166136261u ^ seed;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ p[i]) * 16777619u;
    }
    hash ^= hash >> 15;
    hash *= 0x2c1b3c6du;
    return hash ^ hash >> 13;
}

#endif
