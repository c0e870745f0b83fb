/* GPU time of every launch by CUPTI's Activity API. No subscription is held, and all is given back when
 * another profiler comes: a torch.profiler started later works.
 *
 * A replayed graph is timed as a whole, which costs little; with WARPWATCH_TIMING_NODES=1 each of its kernels
 * is. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cupti_activity.h>
#include <cupti_driver_cbid.h>

#include "cupti/diagnose.h"
#include "cupti/plugin_state.h"
#include "cupti/records.h"

#define BUFFER_BYTES    (1u << 20)
#define BUFFERS         16u
#define FLUSH_PERIOD_MS 1000u

static struct {
    pthread_mutex_t lock; /* of the buffers */
    void *free_buffers[BUFFERS];
    unsigned free_count, made;
    atomic_bool ended; /* no launch is timed any more */
    atomic_bool inert; /* nor are records read */
} timing = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- buffers ------------------------------------------------------------------------------------------- */

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    pthread_mutex_lock(&timing.lock);
    void *memory = NULL;
    if (timing.free_count) {
        memory = timing.free_buffers[--timing.free_count];
    } else if (timing.made < BUFFERS && posix_memalign(&memory, 8, BUFFER_BYTES) == 0) {
        timing.made++;
    }
    pthread_mutex_unlock(&timing.lock);
    *buffer = memory;
    *size = memory ? BUFFER_BYTES : 0;
    *max_records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                      size_t valid)
{
    size_t dropped = 0;
    (void)size;
    if (!atomic_load_explicit(&timing.inert, memory_order_relaxed)) {
        cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
        records_read(buffer, valid, dropped);
    }
    pthread_mutex_lock(&timing.lock);
    if (buffer && timing.free_count < BUFFERS) {
        timing.free_buffers[timing.free_count++] = buffer;
    }
    pthread_mutex_unlock(&timing.lock);
}

/* --- around launches ----------------------------------------------------------------------------------- */

static uint64_t timing_before(const struct plugin_launch *launch)
{
    if (atomic_load_explicit(&timing.ended, memory_order_relaxed)) {
        return 0;
    }
    uint64_t id = records_id(launch);
    return cupti.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, id) ==
                   CUPTI_SUCCESS
               ? id + 1
               : 0;
}

static void timing_after(const struct plugin_launch *launch, uint64_t token, CUresult result)
{
    uint64_t popped;
    cupti.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped);
    if (result == CUDA_SUCCESS) {
        records_launched(token - 1, launch);
    }
}

/* --- beginning and end --------------------------------------------------------------------------------- */

/* Only the launch functions: an API kind as a whole would record every driver call of the program. */
static const CUpti_CallbackId launch_callbacks[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};
#define LAUNCH_CALLBACKS (sizeof launch_callbacks / sizeof *launch_callbacks)

/* Without the last one, which old drivers lack, CUPTI times every kernel of a graph. */
static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                           CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                           CUPTI_ACTIVITY_KIND_GRAPH_TRACE};

static size_t kinds_wanted(void)
{
    return sizeof kinds / sizeof *kinds - (plugin.settings.graph_nodes ? 1 : 0);
}

static CUptiResult start_activity(void)
{
    CUptiResult result = cupti.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    for (size_t i = 0; result == CUPTI_SUCCESS && i < kinds_wanted(); i++) {
        bool needed = kinds[i] != CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
        result = cupti.cuptiActivityEnable(kinds[i]);
        result = result && !needed ? CUPTI_SUCCESS : result;
    }
    for (size_t i = 0; result == CUPTI_SUCCESS && i < LAUNCH_CALLBACKS; i++) {
        result = cupti.cuptiActivityEnableDriverApi(launch_callbacks[i], 1);
    }
    if (result == CUPTI_SUCCESS) {
        cupti.cuptiActivityFlushPeriod(FLUSH_PERIOD_MS);
    }
    return result;
}

static void stop_activity(void)
{
    for (size_t i = 0; i < LAUNCH_CALLBACKS; i++) {
        cupti.cuptiActivityEnableDriverApi(launch_callbacks[i], 0);
    }
    for (size_t i = 0; i < kinds_wanted(); i++) {
        cupti.cuptiActivityDisable(kinds[i]);
    }
}

static void flush(void)
{
    if (!atomic_load(&timing.inert)) {
        cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    }
}

static void timing_context_ending(CUcontext context)
{
    (void)context;
    flush();
}

static void timing_forked(void)
{
    atomic_store(&timing.ended, true);
    atomic_store(&timing.inert, true);
}

/* The flush brings back the buffers that CUPTI holds: it would hand them to the other profiler. */
static void timing_yield(void)
{
    if (!atomic_exchange(&timing.ended, true)) {
        stop_activity();
        flush();
        cupti.cuptiActivityFlushPeriod(0);
        atomic_store(&timing.inert, true);
        plugin.complain("timing: another profiler starts in this process: GPU times end here");
    }
}

static const struct plugin_hooks timing_hooks = {.before = timing_before,
                                                 .after = timing_after,
                                                 .context_ending = timing_context_ending,
                                                 .forked = timing_forked,
                                                 .yield = timing_yield};

const struct plugin_hooks *timing_open(char *why, size_t size)
{
    if (!(cupti.parts & CUPTI_PART_TIMING)) {
        snprintf(why, size, "%s lacks the Activity API", cupti.path);
        return NULL;
    }
    CUptiResult result = records_open() ? start_activity() : CUPTI_ERROR_OUT_OF_MEMORY;
    if (result) {
        stop_activity();
        diagnose_result(why, size, "timing", &cupti, result);
        return NULL;
    }
    /* Runs before the driver's own exit handlers, because it is registered after them. */
    atexit(flush);
    plugin.set_feature(STORE_FEATURE_TIMING);
    return &timing_hooks;
}
