/* Fixed-size things by number, from 1; freed ones are used again. The address range is reserved once, pages
 * come as they are touched. */
#ifndef WARPWATCH_POOL_H
#define WARPWATCH_POOL_H

#include <string.h>

#include "memory.h"

struct pool {
    char *items;
    uint32_t item_bytes, limit, made, free; /* a free item's first four bytes name the next free one */
};

static inline void *pool_item(const struct pool *pool, uint32_t number)
{
    return pool->items + (uint64_t)number * pool->item_bytes;
}

/* Gives everything back; the pool starts anew. */
static inline void pool_close(struct pool *pool)
{
    memory_unmap(pool->items, (uint64_t)pool->limit * pool->item_bytes);
    pool->items = NULL;
    pool->made = pool->free = 0;
}

/* 0 when none is left. The item is zeroed. */
static inline uint32_t pool_take(struct pool *pool)
{
    if (pool->items == NULL) {
        pool->items = memory_map((uint64_t)pool->limit * pool->item_bytes);
    }
    uint32_t number = pool->free;
    if (number) {
        memcpy(&pool->free, pool_item(pool, number), sizeof pool->free);
        memset(pool_item(pool, number), 0, pool->item_bytes);
        return number;
    }
    return pool->items && pool->made + 1 < pool->limit ? ++pool->made : 0;
}

static inline void pool_give(struct pool *pool, uint32_t number)
{
    memcpy(pool_item(pool, number), &pool->free, sizeof pool->free);
    pool->free = number;
}

#endif
