/* Counting: one counter for each (thread, target), written by its thread alone. The hot path finds the target
 * by the launch's words and the counter by the target; what is new goes to resolve.c. */
#ifndef WARPWATCH_RECORDER_H
#define WARPWATCH_RECORDER_H

#include "clock.h"
#include "recorder_state.h"
#include "thread.h"

/* After a launch that the driver accepted; `start` is clock_ticks before the call, 0 without times. */
void recorder_launched(const struct launch_words *words, uint32_t hash, CUstream stream, uint64_t start);
void recorder_launched_shape(const struct launch *launch, uint64_t start);
/* A request other than a launch that may lead to launches which nobody can count. */
void recorder_uncounted(enum store_uncounted reason);
/* What a launch of these words counts for, as far as it is known already. */
uint32_t recorder_target(void *function, uint64_t grid, uint64_t block, uint64_t extras, CUstream stream);
/* The same before the launch, as far as it can be told without looking at the stream. */
uint32_t recorder_target_before(void *function, uint64_t grid, uint64_t block, uint64_t extras,
                                CUstream stream);

/* A call through the runtime that began at `start` returns: the launch in it took as long as that. */
void recorder_runtime_returned(uint64_t start);

/* Before the driver is called: the words' hash, by which they will be found. What the search reads first
 * comes into the cache meanwhile. */
static ALWAYS_INLINE uint32_t recorder_expect(const struct launch_words *words)
{
    if (UNLIKELY(thread.sample_start)) {
        thread.sample_start = clock_ticks();
    }
    uint32_t hash = keys_hash(words);
    keys_prefetch(&recorder.keys, hash);
    return hash;
}

static ALWAYS_INLINE uint64_t recorder_start(void)
{
    if (UNLIKELY(!load_relaxed(&recorder.times))) {
        return 0;
    }
    return thread.runtime_start ? thread.runtime_start : clock_ticks();
}

#endif
