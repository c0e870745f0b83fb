/* A shard: the counters of one thread, and after it of the next one. */
#ifndef WARPWATCH_SHARD_H
#define WARPWATCH_SHARD_H

#include "recorder_state.h"
#include "store.h"

enum {
    SHARD_ALIGNMENT = 128, /* two cache lines, which processors fetch together: threads share none */
    SHARD_FEW_PAGES = 112, /* with them a shard is 1 KB */
    SHARD_PAGE_UNITS = PAGE_BYTES / sizeof(struct store_counter),
    SHARD_NARROW_SLOTS = 1 << 16
};

/* A counter's number is the page that it lies on, of those that have counters of the shard, and its place
 * there, in units of a counter: two bytes in a slot, until there are very many. */
struct shard {
    _Alignas(SHARD_ALIGNMENT) _Atomic(void *) slots; /* a counter's number, by target; 0 is free */
    _Atomic(struct store_counter **) pages;          /* where they begin */
    _Atomic uint32_t mask;
    uint32_t used;
    uint32_t pages_used;
    uint32_t index; /* of its store_shard */
    int32_t tid;
    struct store_shard *record;
    struct store_extent *counters; /* the extent that still has room */
    _Atomic(struct store_counter *) last;
    _Atomic uint64_t last_end; /* ticks when the last launch call returned */
    _Atomic uint32_t launches;
    struct trace_ring *trace; /* NULL until it is traced */
    struct store_counter *few_pages[SHARD_FEW_PAGES];
};
_Static_assert(sizeof(struct shard) == 1024, "of a shard");

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

static ALWAYS_INLINE uint32_t shard_number(const void *slots, uint32_t mask, uint32_t slot)
{
    return LIKELY(mask < SHARD_NARROW_SLOTS) ? load_relaxed((const _Atomic uint16_t *)slots + slot)
                                             : load_relaxed((const _Atomic uint32_t *)slots + slot);
}

static ALWAYS_INLINE struct store_counter *shard_counter_at(const struct shard *shard, uint32_t number)
{
    return load_relaxed(&shard->pages)[number / SHARD_PAGE_UNITS] + number % SHARD_PAGE_UNITS;
}

static ALWAYS_INLINE struct store_counter *shard_find(struct shard *shard, struct key_target counted)
{
    const void *slots = load_relaxed(&shard->slots);
    uint32_t mask = load_relaxed(&shard->mask);
    for (uint32_t i = counted.hash;; i++) {
        uint32_t number = shard_number(slots, mask, i & mask);
        if (UNLIKELY(number == 0)) {
            return NULL;
        }
        struct store_counter *counter = shard_counter_at(shard, number);
        if (LIKELY(counter->target == counted.target)) {
            return counter;
        }
    }
}

#endif
