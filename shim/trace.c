/* Writes trace records. A thread's room grows until all threads together have used up what a trace may take;
 * from then on each thread overwrites its own oldest records and counts them as lost. A thread that comes
 * later still gets a block. */
#include "trace.h"

#include "clock.h"
#include "index.h"
#include "memory.h"
#include "settings.h"

enum {
    FIRST_BYTES = 64 << 10,
    LARGEST_BYTES = 1 << 20,
    MOST_EXTENTS = 960,
    RECORD_BYTES = sizeof(struct store_trace),
    FIRST_RECORDS = (PAGE_BYTES - sizeof(struct store_extent)) / RECORD_BYTES, /* of an extent, on its page */
    POPULATED_RECORDS = (32 << 10) / RECORD_BYTES,
    CACHED_STREAMS = 8,
    MOST_STREAMS = STORE_TRACE_NO_STREAM
};

struct known_stream {
    uint64_t stream;
    uint16_t index;
};

struct trace_ring { /* one page a traced thread */
    struct store_trace *next,
        *pause;                  /* where the next record goes, and where there is something to do first */
    struct store_extent *extent; /* being filled */
    uint32_t extents, current;
    bool wrapped; /* no more room: the oldest records are overwritten */
    bool hole;    /* the extent may be one behind its `used` */
    struct known_stream streams[CACHED_STREAMS];
    uint32_t offsets[MOST_EXTENTS]; /* of extents, in blocks */
};
_Static_assert(sizeof(struct trace_ring) <= PAGE_BYTES, "a page");

static uint64_t start_ticks, bytes_left;

/* --- streams ------------------------------------------------------------------------------------------- */

static uint32_t hash_handle(uint64_t handle)
{
    return index_hash_address((const void *)(uintptr_t)handle);
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

static uint16_t find_stream(uint64_t stream)
{
    struct store_stream record = {stream};
    uint32_t hash = hash_handle(stream);
    recorder_lock_take();
    uint32_t number = index_find(&streams, hash, &stream);
    if (number == INDEX_NONE && store_count(STORE_STREAMS) < MOST_STREAMS) {
        number = store_add(STORE_STREAMS, &record);
        if (number != STORE_NO_TARGET) {
            index_insert(&streams, hash, number);
        }
    }
    recorder_lock_give();
    return number < MOST_STREAMS ? (uint16_t)number : STORE_TRACE_NO_STREAM;
}

static ALWAYS_INLINE struct known_stream *known_stream(struct trace_ring *ring, uint64_t stream)
{
    return &ring->streams[stream * 0x9e3779b97f4a7c15u >> 61];
}

/* --- room ---------------------------------------------------------------------------------------------- */

void trace_open(void)
{
    index_clear(&streams);
    start_ticks = store_header()->start_ticks;
    bytes_left = settings.trace_bytes;
    store_permit_holes();
}

static struct store_trace *records_of(struct store_extent *extent)
{
    return (struct store_trace *)(extent + 1);
}

/* The next records of the extent are there to be written. `when` publishes each: a launch leaves `used`
 * alone. */
static void open_records(struct trace_ring *ring, uint32_t records)
{
    ring->pause = ring->next + records;
    store_release((_Atomic uint32_t *)&ring->extent->used, ring->extent->used + records);
}

/* One more extent. Locked. */
static bool grow(struct shard *shard, struct trace_ring *ring)
{
    uint64_t bytes = (uint64_t)FIRST_BYTES << (ring->extents < 4 ? ring->extents : 4);
    bytes = bytes < LARGEST_BYTES ? bytes : LARGEST_BYTES;
    if (ring->extents == MOST_EXTENTS || (ring->extents && bytes > bytes_left)) {
        return false;
    }
    bytes = bytes > bytes_left ? STORE_BLOCK_BYTES : bytes;
    struct store_extent *extent = store_extend_hole(STORE_TRACE, shard->index, bytes);
    if (extent == NULL) {
        return false;
    }
    bytes_left -= bytes < bytes_left ? bytes : bytes_left;
    ring->offsets[ring->extents++] = (uint32_t)((uint64_t)((char *)extent - store.base) / STORE_BLOCK_BYTES);
    ring->extent = extent;
    ring->next = records_of(extent);
    ring->hole = store.holes;
    open_records(ring, FIRST_RECORDS);
    return true;
}

/* More records of the extent. A page fault costs as much as writing its records: few pages at a time, so that
 * no launch waits long. Locked, if `filling` a hole whose pages could not be had otherwise. */
static bool lengthen(struct trace_ring *ring, bool filling)
{
    uint32_t left = ring->extent ? ring->extent->capacity - ring->extent->used : 0;
    uint32_t records = left < POPULATED_RECORDS ? left : POPULATED_RECORDS;
    const struct store_trace *end = ring->next + records;
    if (records == 0 ||
        !(filling ? store_fill(ring->next, end) : store_populate(ring->next, end) || !ring->hole)) {
        return false;
    }
    open_records(ring, records);
    return true;
}

/* To the oldest records. False: there are none. */
static bool wrap(struct trace_ring *ring)
{
    ring->current = ring->wrapped ? ring->current + 1 : 0;
    ring->wrapped = true;
    if (ring->extents == 0) {
        return false;
    }
    uint64_t block = ring->offsets[ring->current %= ring->extents];
    ring->extent = (struct store_extent *)(store.base + block * STORE_BLOCK_BYTES);
    ring->next = records_of(ring->extent);
    ring->pause = ring->next + ring->extent->used;
    return true;
}

static bool make_room(struct shard *shard, struct trace_ring *ring, bool locked)
{
    if (ring->wrapped || lengthen(ring, false)) {
        return !ring->wrapped || wrap(ring);
    }
    if (!locked) {
        recorder_lock_take();
    }
    bool more = lengthen(ring, true) || grow(shard, ring);
    if (!locked) {
        recorder_lock_give();
    }
    return more || wrap(ring);
}

/* The ring, with room for a record. */
static struct trace_ring *ring_with_room(struct shard *shard, bool locked)
{
    struct trace_ring *ring = shard->trace ? shard->trace : memory_map(PAGE_BYTES);
    shard->trace = ring;
    return ring && (ring->next != ring->pause || make_room(shard, ring, locked)) ? ring : NULL;
}

/* --- records ------------------------------------------------------------------------------------------- */

static void lose(struct shard *shard)
{
    _Atomic uint64_t *lost = (_Atomic uint64_t *)&shard->record->trace_lost;
    store_relaxed(lost, load_relaxed(lost) + 1);
}

static ALWAYS_INLINE void append(struct shard *shard, struct trace_ring *ring, uint32_t target,
                                 uint32_t duration, uint64_t when)
{
    struct store_trace *place = ring->next;
    ring->next = place + 1;
    _Atomic uint64_t *published = (_Atomic uint64_t *)&place->when;
    if (UNLIKELY(load_relaxed(published))) {
        store_relaxed(published, 0);
        if (LIKELY(place->target != STORE_NO_TARGET)) {
            lose(shard);
        }
    }
    store_relaxed((_Atomic uint32_t *)&place->target, target);
    store_relaxed((_Atomic uint32_t *)&place->duration, duration);
    store_release(published, when);
}

/* Never 0: that is a record which is not there. */
static ALWAYS_INLINE uint64_t when(uint64_t ticks, uint16_t stream)
{
    uint64_t units = ticks > start_ticks ? (ticks - start_ticks) / STORE_TRACE_TICKS : 0;
    uint64_t time = (units + !units) & ((1ull << STORE_TRACE_TIME_BITS) - 1);
    return time | (uint64_t)stream << STORE_TRACE_TIME_BITS;
}

/* The first launch of a thread, or into a stream, or on the next pages; or one whose start nobody took: all
 * but the first of a request for several devices, and those of a program without times. */
static COLD void launch_unready(struct shard *shard, uint32_t target, uint64_t stream, uint64_t start,
                                uint64_t end)
{
    KEEP_ERRNO;
    struct trace_ring *ring = ring_with_room(shard, false);
    if (ring == NULL) {
        lose(shard);
        return;
    }
    struct known_stream *known = known_stream(ring, stream);
    if (known->stream != stream) {
        *known = (struct known_stream){stream, find_stream(stream)};
    }
    trace_launch(shard, target, stream, start ? start : clock_ticks(), end);
}

void trace_launch(struct shard *shard, uint32_t target, uint64_t stream, uint64_t start, uint64_t end)
{
    struct trace_ring *ring = shard->trace;
    if (UNLIKELY(ring == NULL || ring->next == ring->pause || known_stream(ring, stream)->stream != stream ||
                 start == 0)) {
        launch_unready(shard, target, stream, start, end);
        return;
    }
    uint64_t duration = end > start ? (end - start) / STORE_TRACE_TICKS : 0;
    append(shard, ring, target, duration < UINT32_MAX ? (uint32_t)duration : UINT32_MAX,
           when(start, known_stream(ring, stream)->index));
}

void trace_mark_thread(struct shard *shard)
{
    struct trace_ring *ring = ring_with_room(shard, true);
    if (ring) {
        append(shard, ring, STORE_NO_TARGET, (uint32_t)shard->tid,
               when(clock_ticks(), STORE_TRACE_NO_STREAM));
    }
}
