/* What the hooks of launch functions share. */
#ifndef WARPWATCH_LAUNCH_HOOKS_H
#define WARPWATCH_LAUNCH_HOOKS_H

#include "hook.h"
#include "launch.h"
#include "recorder.h"
#include "runtime.h"

#define REAL(name) ((__typeof__(&name))call.real)

static ALWAYS_INLINE uint32_t call_flags(const struct call *call, bool per_thread)
{
    return (runtime_calls(call->caller) ? LAUNCH_RUNTIME : 0) | (per_thread ? LAUNCH_PER_THREAD : 0);
}

#endif
