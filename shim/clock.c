/* Which clock the hot path may use, and how fast it ticks. */
#include "clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct clock clock_state = {.ns_per_tick_32 = 1ull << 32};

static bool counter_is_invariant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    /* CPUID 8000_0007h, EDX bit 8: the counter runs at one rate in all power states (AMD and Intel manuals).
     */
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
#else
    return false;
#endif
}

void clock_start(void)
{
    clock_state.counter = counter_is_invariant();
    clock_state.start_ticks = clock_ticks();
    clock_state.start_ns = clock_monotonic_ns();
}

uint64_t clock_rate(void)
{
    if (!clock_state.counter) {
        return 0;
    }
    uint64_t ticks = clock_ticks() - clock_state.start_ticks,
             ns = clock_monotonic_ns() - clock_state.start_ns;
    if (ns == 0 || ticks == 0) {
        return 0;
    }
    store_relaxed(&clock_state.ns_per_tick_32, (uint64_t)(((unsigned __int128)ns << 32) / ticks));
    return (uint64_t)((unsigned __int128)ticks * 1000000000u / ns);
}

struct clock_moment clock_moment(uint64_t ticks)
{
    clock_rate(); /* so that clock_ns knows a tick */
    uint64_t now = clock_ticks(), then = ticks && ticks < now ? ticks : now, since_ns = clock_ns(now - then);
    return (struct clock_moment){then, clock_monotonic_ns() - since_ns, clock_realtime_ns() - since_ns};
}
