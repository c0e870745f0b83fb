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
    RECORDER_PLAIN,     /* nothing but counting (and times) */
    RECORDER_CAREFUL,   /* streams are being captured, or several devices or a plug-in are in use */
    RECORDER_OFF        /* disabled, or failed for good */
};

struct recorder {
    _Atomic uint32_t mode;
    bool times;                /* keep launch-call time and gaps */
    bool several_devices;      /* a CUkernel may run on any of several devices */
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
void recorder_launched(void *function, uint64_t grid, uint64_t block, uint64_t extras, CUstream stream,
                       uint64_t start);
void recorder_launched_shape(const struct launch *launch, uint64_t start);
/* Launches seen that nothing could be made of. */
void recorder_lost(uint64_t launches, enum store_loss reason);
/* Sets the mode by what is going on now. */
void recorder_choose_mode(void);
void recorder_open(void);

static ALWAYS_INLINE uint64_t recorder_start(void)
{
    return LIKELY(recorder.times) ? clock_ticks() : 0;
}

#endif
