/* Open addressing, linear probing, at most half full. The seed keeps a crafted store from choosing
 * collisions. */
#include "table.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct table_slot {
    uint64_t hash;
    uint32_t index;
    uint32_t taken;
};

void table_open(struct table *table)
{
    *table = (struct table){0};
    enum { DO_NOT_WAIT = 1 }; /* GRND_NONBLOCK; glibc has the function and the name from 2.25 on */
    if (syscall(SYS_getrandom, &table->seed, sizeof table->seed, DO_NOT_WAIT) < 0) {
        table->seed = 0x243f6a8885a308d3ull;
    }
}

static uint64_t mix(uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15ull;
    value ^= value >> 29;
    value *= 0xbf58476d1ce4e5b9ull;
    return value ^ value >> 32;
}

uint64_t table_hash(const struct table *table, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    uint64_t hash = table->seed ^ count;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ p[i]) * 0x100000001b3ull;
    }
    return mix(hash);
}

static bool table_grow(struct table *table)
{
    uint32_t capacity = table->capacity ? 2 * table->capacity : 256;
    struct table_slot *slots = calloc(capacity, sizeof *slots);
    if (!slots) {
        return false;
    }
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].taken) {
            uint32_t at = (uint32_t)table->slots[i].hash & (capacity - 1);
            while (slots[at].taken) {
                at = (at + 1) & (capacity - 1);
            }
            slots[at] = table->slots[i];
        }
    }
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return true;
}

uint32_t table_intern(struct table *table, uint64_t hash, uint32_t fresh, table_equal *equal,
                      const void *context, const void *key)
{
    if (2 * (uint64_t)table->used >= table->capacity && !table_grow(table)) {
        return UINT32_MAX;
    }
    uint32_t at = (uint32_t)hash & (table->capacity - 1);
    while (table->slots[at].taken) {
        if (table->slots[at].hash == hash && equal(context, table->slots[at].index, key)) {
            return table->slots[at].index;
        }
        at = (at + 1) & (table->capacity - 1);
    }
    table->slots[at] = (struct table_slot){hash, fresh, 1};
    table->used++;
    return fresh;
}

void table_free(struct table *table)
{
    free(table->slots);
    *table = (struct table){0};
}
