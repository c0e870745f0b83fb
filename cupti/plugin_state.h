/* What the plugin's files share: the shim's services, the CUPTI functions, and a table of state by
 * configuration. */
#ifndef WARPWATCH_PLUGIN_STATE_H
#define WARPWATCH_PLUGIN_STATE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "cupti/durations.h"
#include "cupti/loader.h"
#include "cupti/plugin.h"

/* One entry per configuration, made when first asked for; never moves, so pointers stay good. Not locked: the
 * owner's lock covers it. */
struct by_configuration {
    void **pages; /* BY_CONFIGURATION_PAGE entries each */
    size_t entry_bytes;
};
#define BY_CONFIGURATION_PAGE  256u
#define BY_CONFIGURATION_LIMIT (1u << 20)

/* NULL without memory or beyond the limit. */
void *by_configuration(struct by_configuration *table, uint32_t configuration);

extern struct plugin_services plugin;
extern struct cupti_api cupti;

/* Fills `cupti`. False: no profiler's or none that fits is to be had here, `why` says it. */
bool plugin_find_cupti(char *why, size_t size);

/* Each fills its hooks and returns NULL, or a line that says why it cannot work. */
const struct plugin_hooks *counters_open(char *why, size_t size);
const struct plugin_hooks *timing_open(char *why, size_t size);
const struct plugin_hooks *events_open(char *why, size_t size);

/* A function of whatever library of the process defines it first: referring to it would bind to the C library
 * of the build, where it may be newer than elsewhere. */
void *plugin_loaded_function(const char *name);

uint64_t plugin_now_ns(void); /* CLOCK_MONOTONIC */

/* A lock that a launch only ever tries. (pthread_mutex_trylock would bind to GLIBC_2.34, and one holder keeps
 * the lock from `before` to `after`.) */
static inline bool launch_lock_try(atomic_flag *lock)
{
    return !atomic_flag_test_and_set_explicit(lock, memory_order_acquire);
}

static inline void launch_lock_wait(atomic_flag *lock)
{
    while (!launch_lock_try(lock)) {
        sched_yield();
    }
}

static inline void launch_lock_release(atomic_flag *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

#endif
