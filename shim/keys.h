/* What launches look like, and what they count as: a table of keys, read by every thread without a lock,
 * changed under the recorder's lock. A key is ended when its function, exec or attributes go; threads then
 * miss it and ask anew. */
#ifndef WARPWATCH_KEYS_H
#define WARPWATCH_KEYS_H

#include "launch.h"
#include "store_format.h"

struct launch_key {           /* one cache line */
    _Atomic uint32_t version; /* odd while the key is being written */
    _Atomic uint32_t target;  /* STORE_TARGET that the launch counts for */
    _Atomic uint64_t function, grid, block, extras, place;
    _Atomic uint32_t target_hash; /* of `target`, for the search that comes next */
    uint32_t next;                /* of the same owner, or of the free keys; 0 ends */
    uint32_t reserved[2];
};

/* What a launch counts for. */
struct key_target {
    uint32_t target, hash;
};

struct key_table {
    uint32_t mask;
    uint32_t shift;           /* of a hash, to the slot where the search begins */
    _Atomic uint32_t slots[]; /* index of a key; 0 is free */
};

struct keys {
    _Atomic(struct key_table *) table;
    struct launch_key *records; /* [0] is not used */
};

/* Lives in the recorder's page, for the hot path's sake. */
void keys_open(struct keys *keys);
/* The new key's index, to be kept by its owner; 0: not kept, launches like it stay on the slow path. */
uint32_t keys_insert(struct keys *keys, const struct launch_words *words, uint32_t target, uint32_t next);
/* Ends a chain of keys. */
void keys_end(struct keys *keys, uint32_t first);

/* The high half is the best one: it depends on all bits, and shapes at equal distances, as programs have
 * them, spread more evenly than by chance. Not so handles, whose distances have common factors: by chance,
 * then. */
static ALWAYS_INLINE uint32_t keys_hash(const struct launch_words *words)
{
    uint64_t function = words->function * 0x9e3779b97f4a7c15u;
    uint64_t hash = (function ^ function << 32) + words->grid * 0xc2b2ae3d27d4eb4fu +
                    words->block * 0x165667b19e3779f9u +
                    (words->extras ^ words->place << 1) * 0xd6e8feb86659fd93u;
    return (uint32_t)(hash >> 32);
}

/* The slot where the search begins: by the hash's highest bits, for the same reason. */
static ALWAYS_INLINE uint32_t keys_home(const struct key_table *table, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash >> table->shift);
}

/* Where the search will begin. */
static ALWAYS_INLINE void keys_prefetch(const struct keys *keys, uint32_t hash)
{
    struct key_table *table = load_acquire(&keys->table);
    if (LIKELY(table != NULL)) {
        __builtin_prefetch(&table->slots[keys_home(table, hash)]);
    }
}

/* Targets next to each other lie next to each other, those of another kind elsewhere. */
static ALWAYS_INLINE uint32_t keys_target_hash(uint32_t target)
{
    return target + STORE_TARGET_KIND(target) * 0x9e3779b1u;
}

/* STORE_NO_TARGET if there is no such key. A key under change does not match: its version tells. */
static ALWAYS_INLINE struct key_target keys_find(struct keys *keys, const struct launch_words *words,
                                                 uint32_t hash)
{
    struct key_table *table = load_acquire(&keys->table);
    for (uint32_t i = keys_home(table, hash);; i++) {
        uint32_t slot = load_acquire(&table->slots[i & table->mask]);
        if (UNLIKELY(slot == 0)) {
            return (struct key_target){STORE_NO_TARGET, 0};
        }
        struct launch_key *key = &keys->records[slot];
        uint32_t version = load_acquire(&key->version);
        if (LIKELY(load_acquire(&key->function) == words->function &&
                   load_acquire(&key->grid) == words->grid && load_acquire(&key->block) == words->block &&
                   load_acquire(&key->extras) == words->extras &&
                   load_acquire(&key->place) == words->place)) {
            struct key_target target = {load_acquire(&key->target), load_acquire(&key->target_hash)};
            if (LIKELY(load_relaxed(&key->version) == version && (version & 1) == 0)) {
                return target;
            }
        }
    }
}

#endif
