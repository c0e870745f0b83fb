/* What the hot path reads and everybody else writes under a lock: how this process records. */
#ifndef WARPWATCH_RECORDER_STATE_H
#define WARPWATCH_RECORDER_STATE_H

#include <pthread.h>

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
    pthread_mutex_t lock;   /* zeros: nobody holds it */
    pthread_mutex_t asking; /* held while the driver is asked about pending functions: see resolve.h */
};

/* Zeroed in a forked child (MADV_WIPEONFORK), which thereby knows that it is one. */
union recorder_page {
    struct recorder recorder;
    char bytes[PAGE_BYTES];
};
extern HIDDEN union recorder_page recorder_page;
#define recorder recorder_page.recorder

/* Guards everything that the hot path only reads. Never held while the driver is called. The mark is there
 * from before to after: a signal handler that comes in between must not wait for what its own thread holds.
 */
static inline void recorder_lock_take(void)
{
    thread.locking = true;
    atomic_signal_fence(memory_order_seq_cst);
    pthread_mutex_lock(&recorder.lock);
}

static inline void recorder_lock_give(void)
{
    pthread_mutex_unlock(&recorder.lock);
    atomic_signal_fence(memory_order_seq_cst);
    thread.locking = false;
}

/* Sets the mode by what is going on now. Locked. */
void recorder_choose_mode(void);
/* Launches seen that nothing could be made of. */
void recorder_lost(uint64_t launches, enum store_loss reason);

#endif
