/* The Activity API: a kernel record and an external correlation record for each launch, in alternating order,
 * since a client may rely on neither. A graph launch gives a record as a whole if that kind is enabled, else
 * one for each of its kernels. Records go into the client's buffers and are handed over when one is full or
 * on a flush: to whoever has registered last, as in the real library. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cupti_activity.h>
#include <cupti_driver_cbid.h>

#include "observer.h"
#include "stub.h"

#define EXTERNAL_DEPTH 16
#define KERNEL_NS      4096u

static struct {
    pthread_mutex_t lock;
    CUpti_BuffersCallbackRequestFunc requested;
    CUpti_BuffersCallbackCompleteFunc completed;
    bool kinds[CUPTI_ACTIVITY_KIND_COUNT];
    bool launch_callbacks;
    uint8_t *buffer;
    size_t size, used;
    uint32_t correlation;
    size_t dropped;
} activity = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    CUpti_ExternalCorrelationKind kind;
    uint64_t id;
} external[EXTERNAL_DEPTH];
static _Thread_local int external_depth;

static void hand_over(void)
{
    uint8_t *buffer = activity.buffer;
    size_t size = activity.size, used = activity.used;
    CUpti_BuffersCallbackCompleteFunc completed = activity.completed;
    activity.buffer = NULL;
    activity.used = 0;
    if (buffer) {
        pthread_mutex_unlock(&activity.lock); /* the client may call back */
        completed(NULL, 0, buffer, size, used);
        pthread_mutex_lock(&activity.lock);
    }
}

static void append(const void *record, size_t bytes)
{
    size_t most_records = 0;
    while (activity.buffer && activity.used + bytes > activity.size) {
        hand_over();
    }
    if (!activity.buffer) {
        activity.requested(&activity.buffer, &activity.size, &most_records);
    }
    if (!activity.buffer || activity.size < bytes ||
        (long)activity.dropped < stub_number("SIMCUPTI_DROP_RECORDS", 0)) {
        activity.dropped++;
        return;
    }
    memcpy(activity.buffer + activity.used, record, bytes);
    activity.used += bytes;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void append_kernel(const struct observed_launch *launch, uint32_t correlation)
{
    uint64_t start = now_ns();
    CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                     .start = start,
                                     .end = start + KERNEL_NS,
                                     .correlationId = correlation,
                                     .gridX = (int32_t)launch->grid[0],
                                     .gridY = (int32_t)launch->grid[1],
                                     .gridZ = (int32_t)launch->grid[2],
                                     .blockX = (int32_t)launch->block[0],
                                     .blockY = (int32_t)launch->block[1],
                                     .blockZ = (int32_t)launch->block[2],
                                     .dynamicSharedMemory = (int32_t)launch->dynamic_shared_bytes,
                                     .name = launch->function};
    append(&kernel, sizeof kernel);
}

static void append_external(uint32_t correlation)
{
    if (external_depth && activity.kinds[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] &&
        activity.launch_callbacks) {
        CUpti_ActivityExternalCorrelation record = {.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                                    .externalKind = external[external_depth - 1].kind,
                                                    .externalId = external[external_depth - 1].id,
                                                    .correlationId = correlation};
        append(&record, sizeof record);
    }
}

static void append_graph(uint32_t correlation, uint64_t nodes)
{
    uint64_t start = now_ns();
    CUpti_ActivityGraphTrace2 graph = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                       .correlationId = correlation,
                                       .start = start,
                                       .end = start + KERNEL_NS * nodes};
    append(&graph, sizeof graph);
}

/* The graph launch that is under way on this thread. */
static _Thread_local struct {
    bool under_way;
    uint32_t correlation;
    uint64_t nodes;
} graph_launch;

static void launched(const struct observed_launch *launch)
{
    pthread_mutex_lock(&activity.lock);
    graph_launch.nodes++;
    if (activity.completed && activity.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) {
        if (graph_launch.under_way && !activity.kinds[CUPTI_ACTIVITY_KIND_GRAPH_TRACE]) {
            append_kernel(launch, graph_launch.correlation);
        } else if (!graph_launch.under_way) {
            uint32_t correlation = ++activity.correlation;
            if (correlation % 2) {
                append_kernel(launch, correlation);
            }
            append_external(correlation);
            if (correlation % 2 == 0) {
                append_kernel(launch, correlation);
            }
        }
    }
    pthread_mutex_unlock(&activity.lock);
}

static void begin_graph(void)
{
    graph_launch.under_way = true;
    graph_launch.correlation = ++activity.correlation;
    graph_launch.nodes = 0;
}

static void end_graph(void)
{
    if (activity.completed && graph_launch.nodes) {
        append_external(graph_launch.correlation);
        if (activity.kinds[CUPTI_ACTIVITY_KIND_GRAPH_TRACE]) {
            append_graph(graph_launch.correlation, graph_launch.nodes);
        }
    }
    graph_launch.under_way = false;
}

static void called(const struct driver_call *call)
{
    if (call->id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch ||
        call->id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz) {
        pthread_mutex_lock(&activity.lock);
        if (call->ended) {
            end_graph();
        } else {
            begin_graph();
        }
        pthread_mutex_unlock(&activity.lock);
    }
}

STUB_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                       CUpti_BuffersCallbackCompleteFunc completed)
{
    CUptiResult result = stub_called(__func__);
    if (result == CUPTI_SUCCESS) {
        pthread_mutex_lock(&activity.lock);
        activity.requested = requested;
        activity.completed = completed;
        pthread_mutex_unlock(&activity.lock);
        observer_set(launched);
        observer_set_calls(OBSERVER_ACTIVITY, called);
    }
    return result;
}

static CUptiResult switch_kind(const char *function, CUpti_ActivityKind kind, bool on)
{
    CUptiResult result = stub_called_for(function, (int)kind);
    if (result == CUPTI_SUCCESS && on && !activity.completed) {
        return stub_violation(function, "enabled before callbacks were registered");
    }
    if (result == CUPTI_SUCCESS && on && stub_range_profiling && stub_range_profiling()) {
        return CUPTI_ERROR_NOT_COMPATIBLE; /* whether the real one does is not known: treated as exclusive */
    }
    if (result == CUPTI_SUCCESS) {
        pthread_mutex_lock(&activity.lock);
        activity.kinds[kind] = on;
        pthread_mutex_unlock(&activity.lock);
    }
    return result;
}

STUB_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return switch_kind(__func__, kind, true);
}

STUB_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    return switch_kind(__func__, kind, false);
}

STUB_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable)
{
    (void)id;
    pthread_mutex_lock(&activity.lock);
    activity.launch_callbacks = enable;
    pthread_mutex_unlock(&activity.lock);
    return stub_called(__func__);
}

STUB_EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds)
{
    (void)milliseconds;
    return stub_called(__func__);
}

STUB_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&activity.lock);
    hand_over();
    pthread_mutex_unlock(&activity.lock);
    return stub_called(__func__);
}

static size_t record_bytes(CUpti_ActivityKind kind)
{
    return kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION ? sizeof(CUpti_ActivityExternalCorrelation)
           : kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE        ? sizeof(CUpti_ActivityGraphTrace2)
                                                            : sizeof(CUpti_ActivityKernel10);
}

STUB_EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + record_bytes((*record)->kind) : buffer;
    if (next >= buffer + valid) {
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    pthread_mutex_lock(&activity.lock);
    *dropped = activity.dropped;
    activity.dropped = 0;
    pthread_mutex_unlock(&activity.lock);
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                               uint64_t id)
{
    CUptiResult result = stub_called(__func__);
    if (result == CUPTI_SUCCESS && external_depth < EXTERNAL_DEPTH) {
        external[external_depth].kind = kind;
        external[external_depth++].id = id;
    }
    return result;
}

STUB_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                              uint64_t *id)
{
    CUptiResult result = stub_called(__func__);
    if (external_depth == 0 || external[external_depth - 1].kind != kind) {
        return stub_violation(__func__, "popped more than was pushed");
    }
    *id = external[--external_depth].id;
    return result;
}
