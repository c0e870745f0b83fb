/* What the shim keeps for a thread. It lives in the static TLS block, so it must stay tiny. */
#ifndef WARPWATCH_THREAD_H
#define WARPWATCH_THREAD_H

#include "platform.h"

struct shard;

struct thread {
    struct shard *shard;    /* this thread's counters; NULL before its first launch */
    uint64_t runtime_start; /* clock when the call of a shared runtime that is under way began */
    int answer;             /* CUresult, without the preload: of the driver call whose hook is to run */
    uint64_t
        sample_start; /* clock when a launch was entered whose own cost is timed; 1: the next one; 0: not */
    bool in_runtime;  /* such a call is under way */
    bool nested;      /* a hook is under way: calls are passed on, not recorded */
    bool locking;     /* it takes, holds or gives back the recorder's lock */
    bool forked_amid; /* and a signal handler forks meanwhile */
};

extern HIDDEN THREAD_LOCAL struct thread thread;

#endif
