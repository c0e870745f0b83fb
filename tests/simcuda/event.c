/* Events. */
#include "event.h"

#include "capture.h"
#include "context.h"
#include "require.h"
#include "stream.h"

#include <time.h>

#define EVENT_FLAGS (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)

static struct pool event_pool = POOL(struct CUevent_st);

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void event_drop(struct CUevent_st *event)
{
    if (atomic_fetch_sub(&event->references, 1) == 1) {
        pool_give(&event_pool, event);
    }
}

/* Each ticket, and each queued wait, holds a reference until it is done. */
uint64_t event_take_ticket(struct CUevent_st *event)
{
    atomic_fetch_add(&event->references, 1);
    return atomic_fetch_add(&event->recorded, 1) + 1;
}

void event_complete(struct CUevent_st *event, uint64_t ticket)
{
    if (!(event->flags & CU_EVENT_DISABLE_TIMING)) {
        atomic_store_explicit(&event->time_ns, now_ns(), memory_order_relaxed);
    }
    uint64_t completed = atomic_load(&event->completed);
    while (completed < ticket && !atomic_compare_exchange_weak(&event->completed, &completed, ticket)) {
    }
    stream_announce_counter();
    event_drop(event);
}

void event_wait(struct CUevent_st *event, uint64_t ticket)
{
    if (atomic_load(&event->completed) < ticket) {
        stream_wait_counter(&event->completed, ticket);
    }
    event_drop(event);
}

static bool is_complete(struct CUevent_st *event)
{
    return atomic_load(&event->completed) >= atomic_load(&event->recorded);
}

CUresult event_submit_record(struct CUevent_st *event, struct CUstream_st *stream, unsigned flags)
{
    struct operation record = {.kind = OPERATION_RECORD, .event = {.event = event, .flags = flags}};
    if (atomic_load(&stream->capture)) {
        return capture_record(stream, &record);
    }
    atomic_store(&event->capture, NULL);
    record.event.ticket = event_take_ticket(event);
    CUresult result = stream_submit(stream, &record);
    if (result != CUDA_SUCCESS) {
        event_complete(event, record.event.ticket);
    }
    return result;
}

CUresult event_submit_wait(struct CUevent_st *event, struct CUstream_st *stream, unsigned flags)
{
    struct operation wait = {.kind = OPERATION_WAIT, .event = {.event = event, .flags = flags}};
    if (atomic_load(&stream->capture)) {
        return capture_record(stream, &wait);
    }
    if (atomic_load(&event->capture)) {
        return capture_join(stream, event);
    }
    wait.event.ticket = atomic_load(&event->recorded);
    if (atomic_load(&event->completed) >= wait.event.ticket) {
        return CUDA_SUCCESS;
    }
    atomic_fetch_add(&event->references, 1);
    CUresult result = stream_submit(stream, &wait);
    if (result != CUDA_SUCCESS) {
        event_drop(event);
    }
    return result;
}

/* --- exported ------------------------------------------------------------------------------------------ */

CUresult CUDAAPI cuEventCreate(CUevent *handle, unsigned flags)
{
    ENTER_IN_CONTEXT(cuEventCreate, context);
    REQUIRE(handle && (flags & ~(unsigned)EVENT_FLAGS) == 0);
    REQUIRE(!(flags & CU_EVENT_INTERPROCESS) || (flags & CU_EVENT_DISABLE_TIMING));
    struct CUevent_st *event = pool_take(&event_pool, OBJECT_EVENT);
    if (!event) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->context = context->root;
    event->flags = flags;
    atomic_store(&event->references, 1);
    *handle = event;
    return CUDA_SUCCESS;
}

static CUresult destroy(CUevent event)
{
    atomic_store(&event->object.kind, OBJECT_DEAD);
    event_drop(event);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventDestroy(CUevent event)
{
    ENTER(cuEventDestroy);
    REQUIRE_HANDLE(event, OBJECT_EVENT, cuEventDestroy);
    return destroy(event);
}

CUresult CUDAAPI cuEventDestroy_v2(CUevent event)
{
    ENTER(cuEventDestroy_v2);
    REQUIRE_HANDLE(event, OBJECT_EVENT, cuEventDestroy_v2);
    return destroy(event);
}

static CUresult record(const struct entry *entry, CUevent event, CUstream handle, unsigned flags)
{
    struct CUstream_st *stream = handle;
    TRY(stream_enter(entry, &stream));
    if (!object_is(event, OBJECT_EVENT)) {
        return object_refuse(event, entry->call);
    }
    REQUIRE((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) == 0);
    if (event->context != stream->context->root) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return event_submit_record(event, stream, flags);
}

STREAM_ENTRY(cuEventRecord, _ptsz, (event, stream), CUevent event, CUstream stream)
{
    return record(entry, event, stream, 0);
}

STREAM_ENTRY(cuEventRecordWithFlags, _ptsz, (event, stream, flags), CUevent event, CUstream stream,
             unsigned flags)
{
    return record(entry, event, stream, flags);
}

STREAM_ENTRY(cuStreamWaitEvent, _ptsz, (stream, event, flags), CUstream stream, CUevent event, unsigned flags)
{
    ENTER_STREAM(stream);
    if (!object_is(event, OBJECT_EVENT)) {
        return object_refuse(event, entry->call);
    }
    REQUIRE((flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) == 0);
    return event_submit_wait(event, stream, flags);
}

CUresult CUDAAPI cuEventQuery(CUevent event)
{
    ENTER(cuEventQuery);
    REQUIRE_HANDLE(event, OBJECT_EVENT, cuEventQuery);
    if (atomic_load(&event->capture)) {
        return capture_refuse_event(event);
    }
    TRY(capture_forbids_unsafe());
    return is_complete(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult CUDAAPI cuEventSynchronize(CUevent event)
{
    ENTER(cuEventSynchronize);
    REQUIRE_HANDLE(event, OBJECT_EVENT, cuEventSynchronize);
    if (atomic_load(&event->capture)) {
        return capture_refuse_event(event);
    }
    TRY(capture_forbids_unsafe());
    stream_wait_counter(&event->completed, atomic_load(&event->recorded));
    return CUDA_SUCCESS;
}

static CUresult elapsed(float *milliseconds, CUevent from, CUevent to)
{
    REQUIRE(milliseconds);
    if (!object_is(from, OBJECT_EVENT) || !object_is(to, OBJECT_EVENT) || from->context != to->context ||
        ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING) || !atomic_load(&from->recorded) ||
        !atomic_load(&to->recorded)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!is_complete(from) || !is_complete(to)) {
        return CUDA_ERROR_NOT_READY;
    }
    *milliseconds = (float)((double)(int64_t)(atomic_load(&to->time_ns) - atomic_load(&from->time_ns)) / 1e6);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
    ENTER(cuEventElapsedTime);
    return elapsed(milliseconds, from, to);
}

CUresult CUDAAPI cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to)
{
    ENTER(cuEventElapsedTime_v2);
    return elapsed(milliseconds, from, to);
}
