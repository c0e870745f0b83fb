/* Open addressing with backward-shift deletion: no tombstones, so that endless reloading leaves no litter. */
#include "index.h"

#include "memory.h"

enum { FIRST_SLOTS = 1024 };

uint32_t index_find(const struct index *index, uint32_t hash, const void *wanted)
{
    if (index->slots == NULL) {
        return INDEX_NONE;
    }
    for (uint32_t i = hash & index->mask; index->slots[i]; i = (i + 1) & index->mask) {
        if (index->equal(index->slots[i] - 1, wanted)) {
            return index->slots[i] - 1;
        }
    }
    return INDEX_NONE;
}

static void place(struct index *index, uint32_t hash, uint32_t slot)
{
    uint32_t i = hash & index->mask;
    while (index->slots[i]) {
        i = (i + 1) & index->mask;
    }
    index->slots[i] = slot;
}

static bool grow(struct index *index)
{
    struct index old = *index;
    uint32_t slots = old.slots ? (old.mask + 1) * 2 : FIRST_SLOTS;
    uint32_t *pages = memory_map(slots * sizeof *pages);
    if (pages == NULL) {
        return false;
    }
    index->slots = pages;
    index->mask = slots - 1;
    for (uint32_t i = 0; old.slots && i <= old.mask; i++) {
        if (old.slots[i]) {
            place(index, index->hash_of(old.slots[i] - 1), old.slots[i]);
        }
    }
    memory_unmap(old.slots, old.slots ? ((uint64_t)old.mask + 1) * sizeof *pages : 0);
    return true;
}

bool index_insert(struct index *index, uint32_t hash, uint32_t number)
{
    bool full = index->slots == NULL || index->used >= (index->mask + 1) / 2;
    if (full && !grow(index) && (index->slots == NULL || index->used >= index->mask)) {
        return false;
    }
    place(index, hash, number + 1);
    index->used++;
    return true;
}

void index_remove(struct index *index, uint32_t hash, uint32_t number)
{
    if (index->slots == NULL) {
        return;
    }
    uint32_t hole = hash & index->mask;
    while (index->slots[hole] != number + 1) {
        if (index->slots[hole] == 0) {
            return;
        }
        hole = (hole + 1) & index->mask;
    }
    for (uint32_t i = (hole + 1) & index->mask; index->slots[i]; i = (i + 1) & index->mask) {
        uint32_t home = index->hash_of(index->slots[i] - 1) & index->mask;
        if (((i - home) & index->mask) >= ((i - hole) & index->mask)) {
            index->slots[hole] = index->slots[i];
            hole = i;
        }
    }
    index->slots[hole] = 0;
    index->used--;
}

void index_clear(struct index *index)
{
    memory_unmap(index->slots, index->slots ? ((uint64_t)index->mask + 1) * sizeof *index->slots : 0);
    index->slots = NULL;
    index->mask = index->used = 0;
}
