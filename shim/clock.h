/* Time on the hot path: the time-stamp counter where the processor keeps it constant, else CLOCK_MONOTONIC. A
 * tick is whatever clock_ticks counts; clock_rate says how many there are in a second. */
#ifndef WARPWATCH_CLOCK_H
#define WARPWATCH_CLOCK_H

#include <time.h>

#include "platform.h"

struct clock {
    bool counter;                    /* ticks are of the time-stamp counter, else nanoseconds */
    uint64_t start_ticks;            /* when the library was loaded */
    uint64_t start_ns;               /* CLOCK_MONOTONIC at the same moment */
    _Atomic uint64_t ns_per_tick_32; /* nanoseconds in a tick, times 2^32; refined as time goes on */
};
extern HIDDEN struct clock clock_state;

/* One moment as all clocks show it. */
struct clock_moment {
    uint64_t ticks, monotonic_ns, realtime_ns;
};

void clock_start(void);
/* Ticks in a second by the time passed since clock_start; 0 where a tick is a nanosecond. */
uint64_t clock_rate(void);
/* When the clock of ticks showed these; now, for 0. */
struct clock_moment clock_moment(uint64_t ticks);

static inline uint64_t clock_read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_monotonic_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_realtime_ns(void)
{
    return clock_read_ns(CLOCK_REALTIME);
}

static ALWAYS_INLINE uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    if (LIKELY(clock_state.counter)) {
        return __builtin_ia32_rdtsc();
    }
#endif
    return clock_monotonic_ns();
}

static inline uint64_t clock_ns(uint64_t ticks)
{
    return (uint64_t)(((unsigned __int128)ticks * load_relaxed(&clock_state.ns_per_tick_32)) >> 32);
}

#endif
