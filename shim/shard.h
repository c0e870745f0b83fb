/* A shard: the counters of one thread, and after it of the next one. */
#ifndef WARPWATCH_SHARD_H
#define WARPWATCH_SHARD_H

#include "recorder_state.h"
#include "store.h"

enum { SHARD_ALIGNMENT = 128 }; /* two cache lines, which processors fetch together: threads share none */

struct shard {
    _Alignas(SHARD_ALIGNMENT) _Atomic(_Atomic uint32_t *)
        slots; /* counter, as offset in the store / 32, by target; 0 is free */
    _Atomic uint32_t mask;
    uint32_t used;
    uint32_t index; /* of its store_shard */
    int32_t tid;
    struct store_shard *record;
    struct store_extent *counters; /* the extent that still has room */
    _Atomic(struct store_counter *) last;
    _Atomic uint64_t last_end; /* ticks when the last launch call returned */
    _Atomic uint32_t launches;
    struct trace_ring *trace; /* NULL until it is traced */
};

void shard_forget_all(void);
/* The calling thread's counter for a target; NULL if there is no room. */
struct store_counter *shard_counter(uint32_t target);
/* Adds to a target's count for the calling thread, outside the sequence of its launches. */
void shard_add(uint32_t target, uint64_t launches);

/* One writer a field: a plain load and store, but one that other threads and sanitizers may see. */
static ALWAYS_INLINE void shard_bump(uint64_t *field, uint64_t by)
{
    _Atomic uint64_t *atomic = (_Atomic uint64_t *)field;
    store_relaxed(atomic, load_relaxed(atomic) + by);
}

static ALWAYS_INLINE uint32_t shard_hash(uint32_t target)
{
    return target + STORE_TARGET_KIND(target) * 0x9e3779b1u;
}

static ALWAYS_INLINE struct store_counter *shard_find(struct shard *shard, uint32_t target)
{
    _Atomic uint32_t *slots = load_relaxed(&shard->slots);
    uint32_t mask = load_relaxed(&shard->mask);
    for (uint32_t i = shard_hash(target);; i++) {
        uint32_t slot = load_relaxed(&slots[i & mask]);
        if (UNLIKELY(slot == 0)) {
            return NULL;
        }
        struct store_counter *counter = (struct store_counter *)(recorder.store_base + (uint64_t)slot * 32);
        if (LIKELY(counter->target == target)) {
            return counter;
        }
    }
}

#endif
