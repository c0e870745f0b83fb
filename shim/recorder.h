/* Counting: one counter for each (thread, target), written by its thread alone. The hot path finds the target
 * by the launch's words and the counter by the target; what is new goes to resolve.c. */
#ifndef WARPWATCH_RECORDER_H
#define WARPWATCH_RECORDER_H

#include <pthread.h>

#include "clock.h"
#include "keys.h"
#include "thread.h"

enum recorder_mode {
    RECORDER_UNSET = 0, /* no launch yet in this process; a fork's child finds its page zeroed */
    RECORDER_PLAIN,     /* every launch that succeeds ran */
    RECORDER_CAREFUL,   /* some stream is being captured: launches into it do not run */
    RECORDER_OFF        /* disabled, or failed for good */
};

/* What besides a handle decides where it runs. */
enum recorder_places {
    PLACES_ONE,     /* nothing: there is one device */
    PLACES_DEVICES, /* the context, for a CUkernel */
    PLACES_PARTS    /* the context, for any handle: green contexts have parts of a device */
};

struct recorder {
    _Atomic uint32_t mode;
    _Atomic bool times;        /* keep launch-call time and gaps; until the first launch, when it began */
    _Atomic uint8_t places;    /* enum recorder_places */
    _Atomic bool watched;      /* the plug-in wants to see launches */
    _Atomic bool traced;       /* keep every launch with its time */
    _Atomic uint32_t captures; /* streams known to be capturing */
    struct keys keys;
    char *store_base;
};

/* Zeroed in a forked child (MADV_WIPEONFORK), which thereby knows that it is one. */
union recorder_page {
    struct recorder recorder;
    char bytes[PAGE_BYTES];
};
extern HIDDEN union recorder_page recorder_page;
#define recorder recorder_page.recorder

/* Guards everything that the hot path only reads. Never held while the driver is called. */
extern HIDDEN pthread_mutex_t recorder_lock;

/* After a launch that the driver accepted; `start` is clock_ticks before the call, 0 without times. */
void recorder_launched(const struct launch_words *words, uint32_t hash, CUstream stream, uint64_t start);
void recorder_launched_shape(const struct launch *launch, uint64_t start);
/* Adds to a target's count for the calling thread, outside the sequence of its launches. */
void recorder_add(uint32_t target, uint64_t launches);
/* A request other than a launch that may lead to launches which nobody can count. */
void recorder_uncounted(enum store_uncounted reason);
/* Launches seen that nothing could be made of. */
void recorder_lost(uint64_t launches, enum store_loss reason);
/* What a launch of these words counts for, as far as it is known already. */
uint32_t recorder_target(void *function, uint64_t grid, uint64_t block, uint64_t extras, CUstream stream);
/* The same before the launch, as far as it can be told without looking at the stream. */
uint32_t recorder_target_before(void *function, uint64_t grid, uint64_t block, uint64_t extras,
                                CUstream stream);
/* Sets the mode by what is going on now. Locked. */
void recorder_choose_mode(void);
/* From now on a handle alone does not say where it runs. */
void recorder_tell_places_apart(enum recorder_places places);

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
