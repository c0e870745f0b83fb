/* What the hooks of functions that launch share. */
#ifndef WARPWATCH_LAUNCH_HOOKS_H
#define WARPWATCH_LAUNCH_HOOKS_H

#include "hook.h"
#include "launch.h"
#include "plugin_host.h"
#include "recorder.h"
#include "runtime.h"

static ALWAYS_INLINE uint32_t call_flags(const struct call *call, bool per_thread)
{
    return (thread.in_runtime || runtime_calls(call->caller) ? LAUNCH_RUNTIME : 0) |
           (per_thread ? LAUNCH_PER_THREAD : 0);
}

static ALWAYS_INLINE void watch_shape(struct watched *watched, const struct launch *launch)
{
    struct launch_words words;
    watched->token = 0;
    if (UNLIKELY(load_relaxed(&recorder.watched)) && launch_pack(launch, &words)) {
        plugin_before(watched, launch->function, words.grid, words.block, words.extras, launch->stream);
    }
}

#endif
