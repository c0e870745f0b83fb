/* The side of the shim that faces libwarpwatch_cupti.so, which measures launches where that was asked for. */
#ifndef WARPWATCH_PLUGIN_HOST_H
#define WARPWATCH_PLUGIN_HOST_H

/* First: it includes cuda.h with all versions of all functions. */
#include "recorder.h"

#include "cupti/plugin.h"
#include "settings.h"

/* A launch that the plug-in watches. */
struct watched {
    struct plugin_launch launch;
    uint64_t grid, block, extras; /* the words that it is counted by */
    uint64_t token;               /* 0: nobody watches */
};

static inline bool plugin_is_wanted(void)
{
    return UNLIKELY(settings.timing || settings.counters) && !settings.disabled;
}

/* Opens the plug-in if it is wanted, once: before the first code is loaded, since CUPTI instruments kernels
 * as they are. */
void plugin_open(void);
/* At the first launch, when there is a store to write to. */
void plugin_store_opened(void);
void plugin_before(struct watched *watched, void *function, uint64_t grid, uint64_t block, uint64_t extras,
                   CUstream stream);
void plugin_after(struct watched *watched, CUresult result);
void plugin_context_ending(CUcontext context);
void plugin_forked(void);
/* Somebody else is about to use CUPTI. */
void plugin_other_profiler(void);

/* Before the real launch, with the words that it will be counted by. */
static ALWAYS_INLINE void watch_begin(struct watched *watched, void *function, uint64_t grid, uint64_t block,
                                      uint64_t extras, CUstream stream)
{
    watched->token = 0;
    if (UNLIKELY(load_relaxed(&recorder.watched))) {
        plugin_before(watched, function, grid, block, extras, stream);
    }
}

static ALWAYS_INLINE void watch_end(struct watched *watched, CUresult result)
{
    if (UNLIKELY(watched->token)) {
        plugin_after(watched, result);
    }
}

#endif
