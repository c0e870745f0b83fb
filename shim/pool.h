/* Fixed-size things by number, from 1; freed ones are used again. They never move: they lie in chunks that
 * are mapped as they are needed. */
#ifndef WARPWATCH_POOL_H
#define WARPWATCH_POOL_H

#include <string.h>

#include "memory.h"

enum { POOL_CHUNK_ITEMS = 1024, POOL_CHUNKS = 1024 };

struct pool {
    uint32_t item_bytes;
    uint32_t made, free; /* a free item's first four bytes name the next free one */
    char *chunks[POOL_CHUNKS];
};

static inline void *pool_item(const struct pool *pool, uint32_t number)
{
    return pool->chunks[number / POOL_CHUNK_ITEMS] + (uint64_t)(number % POOL_CHUNK_ITEMS) * pool->item_bytes;
}

/* Gives everything back; the pool starts anew. */
static inline void pool_close(struct pool *pool)
{
    for (uint32_t i = 0; i < POOL_CHUNKS && pool->chunks[i]; i++) {
        memory_unmap(pool->chunks[i], (uint64_t)POOL_CHUNK_ITEMS * pool->item_bytes);
        pool->chunks[i] = NULL;
    }
    pool->made = pool->free = 0;
}

static inline bool pool_has_room(struct pool *pool, uint32_t number)
{
    uint32_t chunk = number / POOL_CHUNK_ITEMS;
    if (chunk < POOL_CHUNKS && pool->chunks[chunk] == NULL) {
        pool->chunks[chunk] = memory_map((uint64_t)POOL_CHUNK_ITEMS * pool->item_bytes);
    }
    return chunk < POOL_CHUNKS && pool->chunks[chunk] != NULL;
}

/* 0 when none is left. The item is zeroed. */
static inline uint32_t pool_take(struct pool *pool)
{
    uint32_t number = pool->free;
    if (number) {
        memcpy(&pool->free, pool_item(pool, number), sizeof pool->free);
        memset(pool_item(pool, number), 0, pool->item_bytes);
        return number;
    }
    return pool_has_room(pool, pool->made + 1) ? ++pool->made : 0;
}

static inline void pool_give(struct pool *pool, uint32_t number)
{
    memcpy(pool_item(pool, number), &pool->free, sizeof pool->free);
    pool->free = number;
}

#endif
