/* Writes trace records. A thread's room grows until all threads together have used up what a trace may take;
 * from then on each thread overwrites its own oldest records and counts them as lost. A thread that comes
 * later still gets a block. */
#include "trace.h"

#include "index.h"
#include "memory.h"
#include "settings.h"

enum {
    FIRST_BYTES = 64 << 10,
    LARGEST_BYTES = 1 << 20,
    MOST_EXTENTS = 960,
    POPULATED_RECORDS = (32 << 10) / sizeof(struct store_trace),
    CACHED_STREAMS = 8,
    MOST_STREAMS = STORE_TRACE_NO_STREAM
};

struct trace_ring {              /* one page a traced thread */
    struct store_extent *extent; /* being filled */
    struct store_trace *next,
        *pause; /* where the next record goes, and where there is something to do first */
    uint32_t extents, current;
    bool wrapped; /* no more extents: the oldest records are overwritten */
    struct {
        uint64_t stream;
        uint16_t index;
    } cache[CACHED_STREAMS];
    uint32_t offsets[MOST_EXTENTS]; /* of extents, in blocks */
};
_Static_assert(sizeof(struct trace_ring) <= PAGE_BYTES, "a page");

static uint64_t start_ticks, bytes_left;

static uint32_t hash_handle(uint64_t handle)
{
    return (uint32_t)(handle * 0x9e3779b97f4a7c15u >> 32);
}

static uint64_t handle_of(uint32_t number)
{
    return ((const struct store_stream *)store_record(STORE_STREAMS, number))->handle;
}

static uint32_t hash_stream(uint32_t number)
{
    return hash_handle(handle_of(number));
}

static bool same_stream(uint32_t number, const void *handle)
{
    return handle_of(number) == *(const uint64_t *)handle;
}

static struct index streams = {.hash_of = hash_stream, .equal = same_stream};

void trace_open(void)
{
    index_clear(&streams);
    start_ticks = store_header()->start_ticks;
    bytes_left = settings.trace_bytes;
}

static COLD uint16_t find_stream(uint64_t stream)
{
    KEEP_ERRNO;
    struct store_stream record = {stream};
    uint32_t hash = hash_handle(stream);
    pthread_mutex_lock(&recorder_lock);
    uint32_t number = index_find(&streams, hash, &stream);
    if (number == INDEX_NONE && store_count(STORE_STREAMS) < MOST_STREAMS) {
        number = store_add(STORE_STREAMS, &record);
        if (number != STORE_NO_TARGET) {
            index_insert(&streams, hash, number);
        }
    }
    pthread_mutex_unlock(&recorder_lock);
    return number < MOST_STREAMS ? (uint16_t)number : STORE_TRACE_NO_STREAM;
}

static uint16_t stream_index(struct trace_ring *ring, uint64_t stream)
{
    uint32_t slot = (uint32_t)((stream * 0x9e3779b97f4a7c15u) >> 61);
    if (UNLIKELY(ring->cache[slot].stream != stream)) {
        ring->cache[slot].index = find_stream(stream);
        ring->cache[slot].stream = stream;
    }
    return ring->cache[slot].index;
}

static struct store_extent *extent_at(const struct trace_ring *ring)
{
    return (struct store_extent *)(store.base + (uint64_t)ring->offsets[ring->current] * STORE_BLOCK_BYTES);
}

static bool grow_locked(struct shard *shard, struct trace_ring *ring)
{
    uint64_t bytes = (uint64_t)FIRST_BYTES << (ring->extents < 4 ? ring->extents : 4);
    bytes = bytes < LARGEST_BYTES ? bytes : LARGEST_BYTES;
    if (ring->extents == MOST_EXTENTS || (ring->extents && bytes > bytes_left)) {
        return false;
    }
    bytes = bytes > bytes_left ? STORE_BLOCK_BYTES : bytes;
    struct store_extent *extent = store_extend(STORE_TRACE, shard->index, bytes);
    if (extent == NULL) {
        return false;
    }
    bytes_left -= bytes < bytes_left ? bytes : bytes_left;
    ring->current = ring->extents;
    ring->offsets[ring->extents++] = (uint32_t)((uint64_t)((char *)extent - store.base) / STORE_BLOCK_BYTES);
    return true;
}

static struct store_trace *records_of(struct store_extent *extent)
{
    return (struct store_trace *)(extent + 1);
}

/* The next place is in a new extent, or in the oldest one. */
static bool advance(struct shard *shard, struct trace_ring *ring, bool locked)
{
    bool grown = false;
    if (!ring->wrapped) {
        if (!locked) {
            pthread_mutex_lock(&recorder_lock);
        }
        grown = grow_locked(shard, ring);
        if (!locked) {
            pthread_mutex_unlock(&recorder_lock);
        }
        ring->wrapped = !grown;
    }
    if (ring->extents == 0) {
        return false;
    }
    ring->current = grown ? ring->current : (ring->current + 1) % ring->extents;
    ring->extent = extent_at(ring);
    ring->next = records_of(ring->extent);
    return true;
}

static struct trace_ring *ring_of(struct shard *shard)
{
    if (UNLIKELY(shard->trace == NULL)) {
        KEEP_ERRNO;
        shard->trace = memory_map(PAGE_BYTES);
    }
    return shard->trace;
}

static void lose(struct shard *shard)
{
    _Atomic uint64_t *lost = (_Atomic uint64_t *)&shard->record->trace_lost;
    store_relaxed(lost, load_relaxed(lost) + 1);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; before that pages come one by one, at the same place */
#endif

/* A page fault costs as much as writing its records. Few pages at a time, so that no launch waits long. (On
 * ext4 zeros by pwrite would take half as long, but the descriptor might be another file's by now.) */
static void populate(const struct store_trace *first, const struct store_trace *end)
{
    uintptr_t from = (uintptr_t)first / PAGE_BYTES * PAGE_BYTES, to = round_up((uintptr_t)end, PAGE_BYTES);
    madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

/* At the end of an extent or of the pages that are there. */
static COLD bool make_room(struct shard *shard, struct trace_ring *ring, bool locked)
{
    KEEP_ERRNO;
    struct store_extent *extent = ring->extent;
    if ((extent == NULL || ring->next == records_of(extent) + extent->capacity) &&
        !advance(shard, ring, locked)) {
        return false;
    }
    ring->pause = records_of(ring->extent) + ring->extent->capacity;
    if (!ring->wrapped) {
        bool far = ring->pause - ring->next > POPULATED_RECORDS;
        ring->pause = far ? ring->next + POPULATED_RECORDS : ring->pause;
        populate(ring->next, ring->pause);
    }
    return true;
}

static ALWAYS_INLINE void append(struct shard *shard, struct trace_ring *ring,
                                 const struct store_trace *record, bool locked)
{
    if (UNLIKELY(ring->next == ring->pause) && !make_room(shard, ring, locked)) {
        lose(shard);
        return;
    }
    struct store_trace *place = ring->next++;
    if (UNLIKELY(ring->wrapped)) {
        store_relaxed((_Atomic uint64_t *)&place->when, 0);
        if (LIKELY(place->target != STORE_NO_TARGET)) {
            lose(shard);
        }
    }
    store_relaxed((_Atomic uint32_t *)&place->target, record->target);
    store_relaxed((_Atomic uint32_t *)&place->duration, record->duration);
    store_release((_Atomic uint64_t *)&place->when, record->when);
    if (LIKELY(!ring->wrapped)) {
        uint32_t used = (uint32_t)(ring->next - records_of(ring->extent));
        store_release((_Atomic uint32_t *)&ring->extent->used, used);
    }
}

/* Never 0: that is a record which is not there. */
static uint64_t when(uint64_t ticks, uint16_t stream)
{
    uint64_t units = ticks > start_ticks ? (ticks - start_ticks) / STORE_TRACE_TICKS : 0;
    return ((units ? units : 1) & ((1ull << STORE_TRACE_TIME_BITS) - 1)) | (uint64_t)stream
                                                                               << STORE_TRACE_TIME_BITS;
}

void trace_launch(struct shard *shard, uint32_t target, uint64_t stream, uint64_t start, uint64_t end)
{
    struct trace_ring *ring = ring_of(shard);
    if (UNLIKELY(ring == NULL)) {
        lose(shard);
        return;
    }
    start = start ? start : clock_ticks(); /* all but the first of one request for several devices */
    uint64_t duration = end > start ? (end - start) / STORE_TRACE_TICKS : 0;
    struct store_trace record = {
        .target = target,
        .duration = duration < UINT32_MAX ? (uint32_t)duration : UINT32_MAX,
        .when = when(start, stream_index(ring, stream)),
    };
    append(shard, ring, &record, false);
}

void trace_mark_thread(struct shard *shard)
{
    struct trace_ring *ring = ring_of(shard);
    struct store_trace record = {STORE_NO_TARGET, (uint32_t)shard->tid,
                                 when(clock_ticks(), STORE_TRACE_NO_STREAM)};
    if (ring) {
        append(shard, ring, &record, true);
    }
}
