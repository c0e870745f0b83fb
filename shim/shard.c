/* Gives threads their counters. No destructor tells that a thread has ended: that would want pthread keys,
 * and run inside the program's own shutdown. Instead a thread that needs counters takes over those of a dead
 * one. */
#include "shard.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pool.h"
#include "thread.h"
#include "trace.h"

enum {
    MOST_SHARDS = 1 << 15,
    FIRST_SLOTS = 512,
    PROBES = 8,
    LARGEST_COUNTERS_BYTES = 1 << 20,
    MOST_PAGES = 1 << 18 /* in a store of 1 GB */
};

static struct pool shards = {.item_bytes = sizeof(struct shard)};
static uint32_t next_probe;

static bool thread_is_dead(int32_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

/* A few at a time: then shards stay a small multiple of the threads that live, and no thread waits long. */
static struct shard *find_abandoned(void)
{
    uint32_t probes = shards.made < PROBES ? shards.made : PROBES;
    while (probes--) {
        struct shard *shard = pool_item(&shards, 1 + next_probe++ % shards.made);
        if (thread_is_dead(shard->tid)) {
            return shard;
        }
    }
    return NULL;
}

static uint64_t slots_bytes(uint32_t mask)
{
    return ((uint64_t)mask + 1) * (mask < SHARD_NARROW_SLOTS ? sizeof(uint16_t) : sizeof(uint32_t));
}

static struct shard *make(void)
{
    bool room = shards.made < MOST_SHARDS && pool_has_room(&shards, shards.made + 1);
    void *slots = room ? memory_map(slots_bytes(FIRST_SLOTS - 1)) : NULL;
    if (slots == NULL) {
        return NULL;
    }
    static const struct store_shard empty;
    uint32_t index = store_add(STORE_SHARDS, &empty);
    if (index == STORE_NO_TARGET) {
        memory_unmap(slots, slots_bytes(FIRST_SLOTS - 1));
        return NULL;
    }
    struct shard *shard = pool_item(&shards, pool_take(&shards));
    *shard = (struct shard){.slots = slots,
                            .pages = shard->few_pages,
                            .mask = FIRST_SLOTS - 1,
                            .index = index,
                            .record = store_record(STORE_SHARDS, index)};
    return shard;
}

/* An ended thread's, or a new one. NULL if there is no room. */
static struct shard *take_shard(void)
{
    struct shard *shard = find_abandoned();
    if (shard) {
        _Atomic uint32_t *adoptions = (_Atomic uint32_t *)&shard->record->adoptions;
        store_relaxed(adoptions, load_relaxed(adoptions) + 1);
        store_relaxed(&shard->last_end, 0);
        store_relaxed(&shard->last, NULL);
    } else {
        shard = make();
    }
    if (shard) {
        shard->tid = (int32_t)syscall(SYS_gettid);
        shard->record->thread = (uint32_t)shard->tid;
        if (load_relaxed(&recorder.traced)) {
            trace_mark_thread(shard);
        }
    }
    return shard;
}

void shard_forget_all(void)
{
    shards = (struct pool){.item_bytes = sizeof(struct shard)};
    next_probe = 0;
}

static void put(void *slots, uint32_t mask, uint32_t target, uint32_t number)
{
    uint32_t i = keys_target_hash(target) & mask;
    while (shard_number(slots, mask, i)) {
        i = (i + 1) & mask;
    }
    if (mask < SHARD_NARROW_SLOTS) {
        store_relaxed((_Atomic uint16_t *)slots + i, (uint16_t)number);
    } else {
        store_relaxed((_Atomic uint32_t *)slots + i, number);
    }
}

/* Three quarters full at most, so 3 to 5 bytes a counter. Fuller where memory is short, but never so full
 * that a number would not fit. */
static bool ensure_slot(struct shard *shard)
{
    uint32_t mask = load_relaxed(&shard->mask), wider = mask * 2 + 1;
    if (shard->used < (mask + 1) / 4 * 3) {
        return true;
    }
    void *old = load_relaxed(&shard->slots), *slots = memory_map(slots_bytes(wider));
    if (slots == NULL) {
        return shard->used < mask - mask / 32;
    }
    for (uint32_t i = 0; i <= mask; i++) {
        uint32_t number = shard_number(old, mask, i);
        if (number) {
            put(slots, wider, shard_counter_at(shard, number)->target, number);
        }
    }
    store_relaxed(&shard->slots, slots);
    store_relaxed(&shard->mask, wider);
    memory_unmap(old, slots_bytes(mask));
    return true;
}

static bool add_page(struct shard *shard, void *page)
{
    struct store_counter **pages = load_relaxed(&shard->pages);
    if (shard->pages_used == SHARD_FEW_PAGES) {
        pages = memory_map(MOST_PAGES * sizeof *pages);
        if (pages == NULL) {
            return false;
        }
        memcpy(pages, shard->few_pages, sizeof shard->few_pages);
        store_relaxed(&shard->pages, pages);
    }
    pages[shard->pages_used++] = page;
    return true;
}

static struct store_extent *counters_with_room(struct shard *shard)
{
    struct store_extent *extent = shard->counters;
    if (extent && extent->used < extent->capacity) {
        return extent;
    }
    uint64_t bytes = extent ? extent->bytes * 2 : STORE_BLOCK_BYTES;
    bytes = bytes < LARGEST_COUNTERS_BYTES ? bytes : LARGEST_COUNTERS_BYTES;
    extent = store_extend(STORE_COUNTERS, shard->index, bytes);
    if (extent == NULL) {
        extent = store_extend(STORE_COUNTERS, shard->index, STORE_BLOCK_BYTES);
    }
    shard->counters = extent ? extent : shard->counters;
    return extent;
}

static struct store_counter *add_counter(struct shard *shard, uint32_t target)
{
    struct store_extent *extent = counters_with_room(shard);
    if (extent == NULL || !ensure_slot(shard)) {
        return NULL;
    }
    struct store_counter *counter = (struct store_counter *)(extent + 1) + extent->used;
    uint32_t unit = store_offset32(counter) % SHARD_PAGE_UNITS;
    if ((extent->used == 0 || unit == 0) && !add_page(shard, extent->used ? (void *)counter : extent)) {
        return NULL;
    }
    *counter = (struct store_counter){.target = target, .successor = STORE_NO_TARGET};
    store_release((_Atomic uint32_t *)&extent->used, extent->used + 1);
    put(load_relaxed(&shard->slots), load_relaxed(&shard->mask), target,
        (shard->pages_used - 1) * SHARD_PAGE_UNITS + unit);
    shard->used++;
    return counter;
}

struct store_counter *shard_counter(uint32_t target)
{
    struct key_target counted = {target, keys_target_hash(target)};
    struct store_counter *counter = thread.shard ? shard_find(thread.shard, counted) : NULL;
    if (counter == NULL) {
        recorder_lock_take();
        thread.shard = thread.shard ? thread.shard : take_shard();
        counter = thread.shard ? shard_find(thread.shard, counted) : NULL;
        counter = counter || !thread.shard ? counter : add_counter(thread.shard, target);
        recorder_lock_give();
    }
    if (counter == NULL) {
        recorder_lost(1, STORE_LOSS_NO_SPACE);
    }
    return counter;
}

void shard_add(uint32_t target, uint64_t launches)
{
    struct store_counter *counter = shard_counter(target);
    if (counter) {
        shard_bump(&counter->launches, launches);
    }
}
