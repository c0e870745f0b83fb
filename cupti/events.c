/* GPU time without CUPTI: a few event pairs for each configuration, asked for later without ever waiting. The
 * pair also spans whatever lies between the two records on the stream, so these times are marked "estimated".
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cupti/plugin_state.h"

#define SAMPLES 5u /* per configuration, after one launch to warm up */
#define PAIRS   32u

enum pair_state { PAIR_UNMADE, PAIR_FREE, PAIR_STARTED, PAIR_PENDING };

struct pair {
    enum pair_state state;
    CUcontext context;
    CUevent start, end;
    uint32_t configuration;
};

struct timed {
    uint32_t launches, taken;
    struct durations durations;
};

static struct {
    atomic_flag lock;
    atomic_bool inert;
    struct pair pairs[PAIRS];
    unsigned next_poll;
    struct by_configuration timed;
    CUresult (*current_context)(CUcontext *);
    CUresult (*create)(CUevent *, unsigned);
    CUresult (*record)(CUevent, CUstream);
    CUresult (*record_ptsz)(CUevent, CUstream);
    CUresult (*query)(CUevent);
    CUresult (*elapsed)(float *, CUevent, CUevent);
} events = {.lock = ATOMIC_FLAG_INIT};

static CUresult record_event(CUevent event, const struct plugin_launch *launch)
{
    return launch->per_thread_default_stream && events.record_ptsz ? events.record_ptsz(event, launch->stream)
                                                                   : events.record(event, launch->stream);
}

static void collect(struct pair *pair)
{
    float milliseconds;
    struct timed *timed = by_configuration(&events.timed, pair->configuration);
    struct store_measurement *record = plugin.measurement(pair->configuration);
    if (events.elapsed(&milliseconds, pair->start, pair->end) == CUDA_SUCCESS && timed && record) {
        durations_add(&timed->durations, (uint64_t)((double)milliseconds * 1e6));
        durations_publish(&timed->durations, record, STORE_ESTIMATED);
        record->samples_timing = timed->durations.count;
    }
    pair->state = PAIR_FREE;
}

static void poll_one(CUcontext context)
{
    struct pair *pair = &events.pairs[events.next_poll++ % PAIRS];
    if (pair->state == PAIR_PENDING && pair->context == context) {
        CUresult result = events.query(pair->end);
        if (result == CUDA_SUCCESS) {
            collect(pair);
        } else if (result != CUDA_ERROR_NOT_READY) {
            pair->state = PAIR_FREE;
        }
    }
}

static struct pair *take_pair(CUcontext context)
{
    struct pair *unmade = NULL;
    for (unsigned i = 0; i < PAIRS; i++) {
        if (events.pairs[i].state == PAIR_FREE && events.pairs[i].context == context) {
            return &events.pairs[i];
        }
        unmade = !unmade && events.pairs[i].state == PAIR_UNMADE ? &events.pairs[i] : unmade;
    }
    if (unmade && events.create(&unmade->start, CU_EVENT_DEFAULT) == CUDA_SUCCESS &&
        events.create(&unmade->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS) {
        unmade->context = context;
        unmade->state = PAIR_FREE;
        return unmade;
    }
    return NULL;
}

static uint64_t start_pair(const struct plugin_launch *launch)
{
    CUcontext context = NULL;
    struct timed *timed = by_configuration(&events.timed, launch->configuration);
    if (events.current_context(&context) != CUDA_SUCCESS || !timed) {
        return 0;
    }
    poll_one(context);
    poll_one(context);
    if (timed->launches++ == 0 || timed->taken >= SAMPLES) {
        return 0;
    }
    struct pair *pair = take_pair(context);
    if (!pair || record_event(pair->start, launch) != CUDA_SUCCESS) {
        return 0;
    }
    timed->taken++;
    pair->configuration = launch->configuration;
    pair->state = PAIR_STARTED;
    return (uint64_t)(pair - events.pairs) + 1;
}

static uint64_t events_before(const struct plugin_launch *launch)
{
    if (launch->captures || launch->configuration == STORE_NO_TARGET ||
        atomic_load_explicit(&events.inert, memory_order_relaxed) || !launch_lock_try(&events.lock)) {
        return 0;
    }
    uint64_t token = start_pair(launch);
    launch_lock_release(&events.lock);
    return token;
}

static void events_after(const struct plugin_launch *launch, uint64_t token, CUresult result)
{
    struct pair *pair = &events.pairs[token - 1];
    bool ended = result == CUDA_SUCCESS && record_event(pair->end, launch) == CUDA_SUCCESS;
    launch_lock_wait(&events.lock);
    pair->state = ended ? PAIR_PENDING : PAIR_FREE;
    launch_lock_release(&events.lock);
}

/* The context takes its events with it. */
static void events_context_ending(CUcontext context)
{
    launch_lock_wait(&events.lock);
    for (unsigned i = 0; i < PAIRS; i++) {
        struct pair *pair = &events.pairs[i];
        if (pair->state != PAIR_UNMADE && pair->context == context) {
            if (pair->state == PAIR_PENDING && events.query(pair->end) == CUDA_SUCCESS) {
                collect(pair);
            }
            memset(pair, 0, sizeof *pair);
        }
    }
    launch_lock_release(&events.lock);
}

static void events_forked(void)
{
    atomic_store(&events.inert, true);
}

static const struct plugin_hooks event_hooks = {.before = events_before,
                                                .after = events_after,
                                                .context_ending = events_context_ending,
                                                .forked = events_forked};

const struct plugin_hooks *events_open(char *why, size_t size)
{
    const struct {
        void *function;
        const char *name;
    } needed[] = {
        {&events.current_context, "cuCtxGetCurrent"},
        {&events.create, "cuEventCreate"},
        {&events.record, "cuEventRecord"},
        {&events.query, "cuEventQuery"},
        {&events.elapsed, "cuEventElapsedTime"},
    };
    events.timed.entry_bytes = sizeof(struct timed);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        void *symbol = plugin.driver_symbol(needed[i].name);
        if (!symbol) {
            snprintf(why, size, "the driver has no %s", needed[i].name);
            return NULL;
        }
        memcpy(needed[i].function, &symbol, sizeof symbol);
    }
    events.record_ptsz = (CUresult(*)(CUevent, CUstream))plugin.driver_symbol("cuEventRecord_ptsz");
    plugin.set_feature(STORE_FEATURE_TIMING);
    return &event_hooks;
}
