/* Recording without the preload. The driver has opened libwarpwatch_cupti.so (CUDA_INJECTION64_PATH), which
 * has opened this library and passes on what CUPTI's callbacks tell of each driver call. The hooks then run
 * after the fact: in the place of the real function each of them calls one that repeats the driver's answer.
 */
#include "hook.h"

#include <stdio.h>

#include "cupti/plugin.h"
#include "graph_exec.h"
#include "loader.h"
#include "message.h"
#include "process.h"
#include "recorder.h"
#include "registry.h"
#include "settings.h"

#define ANY_HOOK(name, wrapper, parameters, arguments)                                                       \
    static CUresult answered_##name parameters                                                               \
    {                                                                                                        \
        return thread.answer;                                                                                \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "driver_api.def"
#pragma GCC diagnostic pop

static void *const answers[API_COUNT] = {
#define ANY_HOOK(name, wrapper, parameters, arguments) (void *)answered_##name,
#include "driver_api.def"
};

static bool answered(CUresult result, uint64_t began_ticks)
{
    if (thread.nested) {
        return false;
    }
    thread.answer = result;
    thread.runtime_start = began_ticks;
    return true;
}

static uint32_t graph_ending(void *exec)
{
    return graph_exec_ending(exec);
}

static uint32_t owner_ending(void *owner)
{
    recorder_lock_take();
    uint32_t number = registry_owner_ending(owner);
    recorder_lock_give();
    return number;
}

static void owner_ended(uint32_t number, bool really)
{
    recorder_lock_take();
    registry_owner_ended(number, really);
    recorder_lock_give();
}

static void complain(const char *line)
{
    message("%s", line);
}

/* Set before anything is counted: launches cannot be measured after the fact. */
static void leave_measuring_out(void)
{
    uint32_t most = sizeof settings.problems / sizeof *settings.problems;
    if ((settings.timing || settings.counters) && settings.problem_count < most) {
        snprintf(
            settings.problems[settings.problem_count++], sizeof *settings.problems,
            "timing and counters need the preload: launches are counted through CUPTI's callbacks, and not "
            "measured");
    }
    settings.timing = settings.counters = false;
}

const struct plugin_recording *warpwatch_recording_open(uint32_t version)
{
    static const struct plugin_recording recording = {
        .version = PLUGIN_VERSION,
        .now_ticks = clock_ticks,
        .answered = answered,
        .graph_ending = graph_ending,
        .graph_ended = graph_exec_ended,
        .owner_ending = owner_ending,
        .owner_ended = owner_ended,
        .complain = complain,
    };
    if (version != PLUGIN_VERSION || loader_is_preloaded() || settings.disabled ||
        load_relaxed(&recorder.mode) == RECORDER_OFF) {
        return NULL;
    }
    for (enum driver_api api = 0; api < API_COUNT; api++) {
        store_relaxed(&driver_next_functions[api], answers[api]);
    }
    leave_measuring_out();
    process_is_injected();
    return &recording;
}
