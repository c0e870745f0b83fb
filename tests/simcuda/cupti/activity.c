/* The Activity API: a kernel record and an external correlation record for each launch, in alternating order,
 * since a client may rely on neither. Records go into the client's buffers and are handed over when one is
 * full or on a flush. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cupti_activity.h>

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
    activity.buffer = NULL;
    activity.used = 0;
    if (buffer) {
        pthread_mutex_unlock(&activity.lock); /* the client may call back */
        activity.completed(NULL, 0, buffer, size, used);
        pthread_mutex_lock(&activity.lock);
    }
}

static void append(const void *record, size_t bytes)
{
    size_t most_records = 0;
    if (activity.buffer && activity.used + bytes > activity.size) {
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

static void append_kernel(const char *name, uint32_t correlation)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .name = name};
    kernel.start = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    kernel.end = kernel.start + KERNEL_NS;
    kernel.correlationId = correlation;
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

static void launched(const char *kernel)
{
    pthread_mutex_lock(&activity.lock);
    if (activity.completed && activity.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) {
        uint32_t correlation = ++activity.correlation;
        if (correlation % 2) {
            append_kernel(kernel, correlation);
        }
        append_external(correlation);
        if (correlation % 2 == 0) {
            append_kernel(kernel, correlation);
        }
    }
    pthread_mutex_unlock(&activity.lock);
}

STUB_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                       CUpti_BuffersCallbackCompleteFunc completed)
{
    CUptiResult result = stub_called(__func__);
    if (result == CUPTI_SUCCESS) {
        activity.requested = requested;
        activity.completed = completed;
        observer_set(launched);
    }
    return result;
}

static CUptiResult switch_kind(const char *function, CUpti_ActivityKind kind, bool on)
{
    CUptiResult result = stub_called(function);
    if (result == CUPTI_SUCCESS && on && !activity.completed) {
        return stub_violation(function, "enabled before callbacks were registered");
    }
    if (result == CUPTI_SUCCESS) {
        activity.kinds[kind] = on;
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
    activity.launch_callbacks = enable;
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
    *dropped = activity.dropped;
    activity.dropped = 0;
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
