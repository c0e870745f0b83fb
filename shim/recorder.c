/* The hot path, and the way off it. */
#include "recorder.h"

#include "capture.h"
#include "describe.h"
#include "graph_exec.h"
#include "process.h"
#include "resolve.h"
#include "shard.h"
#include "trace.h"

THREAD_LOCAL struct thread thread;

enum { SAMPLE_EVERY = 1024, FIRST_SAMPLE = 16, INTERRUPTED_NS = 20000, GAP_BINS = 24, FIRST_GAP_BITS = 7 };

/* Majority vote (Boyer and Moore) over what came after this counter's launches. */
static ALWAYS_INLINE void vote(struct store_counter *counter, uint32_t next)
{
    _Atomic uint32_t *successor = (_Atomic uint32_t *)&counter->successor;
    _Atomic uint32_t *votes = (_Atomic uint32_t *)&counter->successor_votes;
    uint32_t count = load_relaxed(votes);
    if (LIKELY(load_relaxed(successor) == next)) {
        store_relaxed(votes, count + 1);
    } else if (count == 0) {
        store_relaxed(successor, next);
        store_relaxed(votes, 1);
    } else {
        store_relaxed(votes, count - 1);
    }
}

static ALWAYS_INLINE void count_gap(struct shard *shard, uint64_t start)
{
    uint64_t last_end = load_relaxed(&shard->last_end);
    if (UNLIKELY(last_end == 0 || start < last_end)) {
        return;
    }
    uint64_t gap = start - last_end, ns = clock_ns(gap);
    uint32_t bits = ns >> FIRST_GAP_BITS ? 64 - (uint32_t)__builtin_clzll(ns) - FIRST_GAP_BITS : 0;
    struct store_shard *record = shard->record;
    shard_bump(&record->gap_ns, gap);
    shard_bump(&record->gaps, 1);
    shard_bump(&record->gap_histogram[bits < GAP_BINS ? bits : GAP_BINS - 1], 1);
}

static void add_shared(uint64_t *field, uint64_t by)
{
    atomic_fetch_add_explicit((_Atomic uint64_t *)field, by, memory_order_relaxed);
}

/* How long a launch call took, and into which stream it went. */
struct launch_call {
    uint64_t start, end; /* 0 without times */
    CUstream stream;
    uint64_t extras;
};

/* What the hook itself costs, from a sample of launches: before the driver was called, if times are kept, and
 * after it returned. A sample as long as a time slice says nothing of it; page faults and interrupts count.
 */
static COLD void sample_own_cost(uint32_t phase, const struct launch_call *call)
{
    if (phase == FIRST_SAMPLE) {
        thread.sample_start = 1;
        return;
    }
    uint64_t now = clock_ticks(), entered = thread.sample_start;
    uint64_t before = entered > 1 && call->start > entered ? call->start - entered : 0;
    uint64_t ns = call->end && now > call->end ? clock_ns(before + now - call->end) : INTERRUPTED_NS;
    thread.sample_start = 0;
    if (ns < INTERRUPTED_NS) {
        add_shared(&store_header()->hook_samples, 1);
        add_shared(&store_header()->hook_ns, ns);
    }
    process_sign_of_life();
}

static ALWAYS_INLINE uint64_t stream_of(const struct launch_call *call)
{
    uint64_t own =
        call->extras & LAUNCH_PER_THREAD ? (uintptr_t)CU_STREAM_PER_THREAD : (uintptr_t)CU_STREAM_LEGACY;
    return call->stream ? (uintptr_t)call->stream : own;
}

/* A thread's own default stream is another one on each thread; threads that adopt a shard are told apart. */
static uint64_t own_stream(const struct shard *shard)
{
    return (uintptr_t)shard + load_relaxed((_Atomic uint32_t *)&shard->record->adoptions);
}

/* Majority vote over the streams: a few launches elsewhere, as in a warm-up, make no difference. */
static ALWAYS_INLINE void vote_stream(const struct shard *shard, struct store_counter *counter,
                                      uint64_t stream)
{
    _Atomic uint32_t *field = (_Atomic uint32_t *)&counter->stream;
    stream = UNLIKELY(stream == (uintptr_t)CU_STREAM_PER_THREAD) ? own_stream(shard) : stream;
    uint32_t mark = (uint32_t)(stream * 0x9e3779b97f4a7c15u >> 32) & ~STORE_STREAM_VOTES;
    uint32_t before = load_relaxed(field), votes = before & STORE_STREAM_VOTES;
    if (LIKELY(before - votes == mark)) {
        store_relaxed(field, before + (votes < STORE_STREAM_VOTES));
    } else {
        store_relaxed(field, votes ? before - 1 : mark + 1);
    }
}

static ALWAYS_INLINE void count(struct shard *shard, struct store_counter *counter, uint32_t target,
                                const struct launch_call *call)
{
    struct store_counter *last = load_relaxed(&shard->last);
    if (LIKELY(last != NULL)) {
        vote(last, target);
    }
    store_relaxed(&shard->last, counter);
    if (LIKELY(call->start)) {
        count_gap(shard, call->start);
        shard_bump(&counter->launch_call_ns, call->end > call->start ? call->end - call->start : 0);
        store_relaxed(&shard->last_end, call->end);
    }
    shard_bump(&counter->launches, 1);
    uint64_t stream = stream_of(call);
    vote_stream(shard, counter, stream);
    if (UNLIKELY(load_relaxed(&recorder.traced))) {
        trace_launch(shard, target, stream, call->start, call->end);
    }
    uint32_t launches = load_relaxed(&shard->launches) + 1;
    store_relaxed(&shard->launches, launches);
    uint32_t phase = launches % SAMPLE_EVERY;
    if (UNLIKELY(phase - FIRST_SAMPLE <= 1)) {
        sample_own_cost(phase, call);
    }
}

/* A context tells launches of one CUkernel on several devices apart. */
static uint64_t place_of(uint64_t extras, CUstream stream)
{
    bool needed = load_relaxed(&recorder.places) != PLACES_ONE && !(extras & LAUNCH_GRAPH);
    return needed ? (uint64_t)(uintptr_t)describe_context(stream) : 0;
}

static uint32_t find_words(const struct launch_words *words)
{
    return keys_find(&recorder.keys, words, keys_hash(words)).target;
}

static uint32_t find_any_shape(const struct launch_words *words, uint64_t place)
{
    struct launch_words any = *words;
    any.place = place;
    launch_any_shape(&any);
    return find_words(&any);
}

/* A key may be for this place only, or for any shape. */
static uint32_t find_elsewhere(struct launch_words *words, CUstream stream)
{
    words->place = place_of(words->extras, stream);
    uint32_t target = words->place ? find_words(words) : STORE_NO_TARGET;
    if (words->extras & LAUNCH_GRAPH) {
        return target;
    }
    target = target == STORE_NO_TARGET ? find_any_shape(words, 0) : target;
    return target == STORE_NO_TARGET && words->place ? find_any_shape(words, words->place) : target;
}

static uint32_t resolve_words(const struct launch_words *words, CUstream stream)
{
    struct launch launch;
    launch_unpack(words, stream, &launch);
    return words->extras & LAUNCH_GRAPH ? graph_exec_replayed(&launch, words) : resolve(&launch, words);
}

static void count_target(uint32_t target, const struct launch_call *call)
{
    struct store_counter *counter = target == STORE_NO_TARGET ? NULL : shard_counter(target);
    if (counter) {
        count(thread.shard, counter, target, call);
    }
}

static void note_new(uint64_t since)
{
    uint64_t now = clock_ticks();
    if (store_header()) {
        add_shared(&store_header()->hook_new, 1);
        add_shared(&store_header()->hook_new_ns, now > since ? clock_ns(now - since) : 0);
    }
}

/* In a signal handler, which has interrupted its thread at work on what a new launch changes. */
static COLD bool interrupts_itself(void)
{
    if (thread.locking) {
        recorder_lost(1, STORE_LOSS_LIMIT);
    }
    return thread.locking;
}

/* A new shape, thread, place or process. */
static COLD void count_new(const struct launch_words *launched, const struct launch_call *call)
{
    KEEP_ERRNO;
    if (interrupts_itself()) {
        return;
    }
    uint64_t since = call->end ? call->end : clock_ticks();
    struct launch_words words = *launched;
    uint32_t target = find_words(&words);
    target = target == STORE_NO_TARGET ? find_elsewhere(&words, call->stream) : target;
    target = target == STORE_NO_TARGET ? resolve_words(&words, call->stream) : target;
    count_target(target, call);
    bool singly = target == STORE_NO_TARGET && (words.extras & LAUNCH_GRAPH) && thread.shard;
    if (singly && load_relaxed(&recorder.traced)) {
        trace_launch(thread.shard, STORE_TRACE_GRAPH, stream_of(call), call->start, call->end);
    }
    note_new(since);
}

/* Whatever is not plain counting. False: this launch does not count. */
static COLD bool prepare(void *function, struct launch_call *call)
{
    KEEP_ERRNO;
    if (interrupts_itself()) {
        return false;
    }
    if (load_acquire(&recorder.captures) && capture_holds(call->stream, call->extras & LAUNCH_PER_THREAD)) {
        return false;
    }
    if (load_acquire(&recorder.mode) == RECORDER_UNSET) {
        if ((call->extras & LAUNCH_GRAPH) && graph_exec_is_without_kernels(function)) {
            return false;
        }
        process_first_launch(call->start);
    }
    call->start = load_relaxed(&recorder.times) ? call->start : 0;
    return load_acquire(&recorder.mode) != RECORDER_OFF;
}

void recorder_launched(const struct launch_words *words, uint32_t hash, CUstream stream, uint64_t start)
{
    struct launch_call call = {start, start || thread.sample_start ? clock_ticks() : 0, stream,
                               words->extras};
    if (UNLIKELY(load_acquire(&recorder.mode) != RECORDER_PLAIN) &&
        !prepare((void *)words->function, &call)) {
        return;
    }
    struct shard *shard = thread.shard;
    if (LIKELY(shard != NULL)) {
        struct key_target found = keys_find(&recorder.keys, words, hash);
        bool known = LIKELY(found.target != STORE_NO_TARGET);
        struct store_counter *counter = known ? shard_find(shard, found) : NULL;
        if (LIKELY(counter != NULL)) {
            count(shard, counter, found.target, &call);
            return;
        }
    }
    count_new(words, &call);
}

void recorder_runtime_returned(uint64_t start)
{
    struct shard *shard = thread.shard;
    uint64_t counted = shard ? load_relaxed(&shard->last_end) : 0;
    struct store_counter *last = counted > start && start ? load_relaxed(&shard->last) : NULL;
    if (last && load_relaxed(&recorder.mode) != RECORDER_UNSET) {
        uint64_t now = clock_ticks();
        shard_bump(&last->launch_call_ns, now > counted ? now - counted : 0);
        store_relaxed(&shard->last_end, now);
    }
}

void recorder_launched_shape(const struct launch *launch, uint64_t start)
{
    struct launch_words words;
    if (launch_pack(launch, &words)) {
        recorder_launched(&words, keys_hash(&words), launch->stream, start);
        return;
    }
    struct launch_call call = {start, start ? clock_ticks() : 0, launch->stream, launch->flags};
    if (!interrupts_itself() &&
        (load_acquire(&recorder.mode) == RECORDER_PLAIN || prepare(launch->function, &call))) {
        KEEP_ERRNO;
        count_target(resolve(launch, NULL), &call);
    }
}

/* A handle of the program's is not shown to the driver before a launch has proved it good. */
uint32_t recorder_target_before(void *function, uint64_t grid, uint64_t block, uint64_t extras,
                                CUstream stream)
{
    struct launch_words words = {(uint64_t)(uintptr_t)function, grid, block, extras, 0};
    uint32_t target = find_words(&words);
    bool is_default = stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
    return target == STORE_NO_TARGET && is_default ? find_elsewhere(&words, NULL) : target;
}

uint32_t recorder_target(void *function, uint64_t grid, uint64_t block, uint64_t extras, CUstream stream)
{
    struct launch_words words = {(uint64_t)(uintptr_t)function, grid, block, extras, 0};
    uint32_t target = find_words(&words);
    return target == STORE_NO_TARGET ? find_elsewhere(&words, stream) : target;
}

void recorder_uncounted(enum store_uncounted reason)
{
    struct launch_call none = {0};
    if (prepare(NULL, &none)) {
        KEEP_ERRNO;
        shard_add(STORE_TARGET(STORE_UNCOUNTED, reason), 1);
    }
}
