/* Gives threads their counters. No destructor tells that a thread has ended: that would want pthread keys,
 * and run inside the program's own shutdown. Instead a thread that needs counters takes over those of a dead
 * one. */
#include "shard.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "thread.h"
#include "trace.h"

enum { MOST_SHARDS = 1 << 15, FIRST_SLOTS = 512, PROBES = 8, LARGEST_COUNTERS_BYTES = 1 << 20 };

static struct shard *shards;
static uint32_t shard_count, next_probe;

static bool thread_is_dead(int32_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

/* A few at a time: then shards stay a small multiple of the threads that live, and no thread waits long. */
static struct shard *find_abandoned(void)
{
    uint32_t probes = shard_count < PROBES ? shard_count : PROBES;
    while (probes--) {
        struct shard *shard = &shards[next_probe++ % shard_count];
        if (thread_is_dead(shard->tid)) {
            return shard;
        }
    }
    return NULL;
}

static struct shard *make(void)
{
    if (shards == NULL) {
        shards = memory_map((uint64_t)MOST_SHARDS * sizeof *shards);
    }
    if (shards == NULL || shard_count == MOST_SHARDS) {
        return NULL;
    }
    _Atomic uint32_t *slots = memory_map(FIRST_SLOTS * sizeof *slots);
    if (slots == NULL) {
        return NULL;
    }
    static const struct store_shard empty;
    uint32_t index = store_add(STORE_SHARDS, &empty);
    if (index == STORE_NO_TARGET) {
        memory_unmap(slots, FIRST_SLOTS * sizeof *slots);
        return NULL;
    }
    struct shard *shard = &shards[shard_count++];
    *shard = (struct shard){
        .slots = slots, .mask = FIRST_SLOTS - 1, .index = index, .record = store_record(STORE_SHARDS, index)};
    return shard;
}

/* An ended thread's, or a new one. NULL if there is no room. */
static struct shard *take_shard(void)
{
    struct shard *shard = find_abandoned();
    if (shard) {
        shard->record->adoptions++;
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
    shards = NULL;
    shard_count = next_probe = 0;
}

static void put(_Atomic uint32_t *slots, uint32_t mask, uint32_t target, uint32_t slot)
{
    uint32_t i = shard_hash(target) & mask;
    while (load_relaxed(&slots[i])) {
        i = (i + 1) & mask;
    }
    store_relaxed(&slots[i], slot);
}

/* Three quarters full at most: 4 bytes a slot, 5 to 11 a counter. */
static bool ensure_slot(struct shard *shard)
{
    uint32_t mask = load_relaxed(&shard->mask);
    if (shard->used < (mask + 1) / 4 * 3) {
        return true;
    }
    _Atomic uint32_t *old = load_relaxed(&shard->slots), *slots = memory_map((mask + 1) * 2 * sizeof *slots);
    if (slots == NULL) {
        return shard->used < mask;
    }
    for (uint32_t i = 0; i <= mask; i++) {
        uint32_t slot = load_relaxed(&old[i]);
        if (slot) {
            const struct store_counter *counter =
                (struct store_counter *)(recorder.store_base + (uint64_t)slot * 32);
            put(slots, mask * 2 + 1, counter->target, slot);
        }
    }
    store_relaxed(&shard->slots, slots);
    store_relaxed(&shard->mask, mask * 2 + 1);
    memory_unmap(old, (mask + 1) * sizeof *old);
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
    *counter = (struct store_counter){.target = target, .successor = STORE_NO_TARGET};
    store_release((_Atomic uint32_t *)&extent->used, extent->used + 1);
    put(load_relaxed(&shard->slots), load_relaxed(&shard->mask), target, store_offset32(counter));
    shard->used++;
    return counter;
}

struct store_counter *shard_counter(uint32_t target)
{
    struct store_counter *counter = thread.shard ? shard_find(thread.shard, target) : NULL;
    if (counter == NULL) {
        pthread_mutex_lock(&recorder_lock);
        thread.shard = thread.shard ? thread.shard : take_shard();
        counter = thread.shard ? shard_find(thread.shard, target) : NULL;
        counter = counter || !thread.shard ? counter : add_counter(thread.shard, target);
        pthread_mutex_unlock(&recorder_lock);
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
