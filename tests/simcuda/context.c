/* Primary and created contexts, and what is current on a thread. */
#include "context.h"

#include "capture.h"
#include "memory.h"
#include "module.h"
#include "require.h"
#include "stream.h"

#include <stdlib.h>

static struct pool context_pool = POOL(struct CUctx_st);
static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t next_id = 1;

/* --- the thread's stack ------------------------------------------------------------------------------------ */

struct CUctx_st *context_current(void)
{
    struct thread_state *thread = thread_current();
    return thread && thread->depth ? thread->contexts[thread->depth - 1] : NULL;
}

CUresult context_require_current(struct CUctx_st **context)
{
    *context = context_current();
    if (!*context) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return object_is(*context, OBJECT_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

bool context_push(struct CUctx_st *context)
{
    struct thread_state *thread = thread_current();
    if (!thread || thread->depth == MAX_CONTEXT_STACK) {
        return false;
    }
    thread->contexts[thread->depth++] = context;
    return true;
}

struct CUctx_st *context_pop(void)
{
    struct thread_state *thread = thread_current();
    return thread && thread->depth ? thread->contexts[--thread->depth] : NULL;
}

static void context_set(struct CUctx_st *context)
{
    if (context_current()) {
        context_pop();
    }
    if (context) {
        context_push(context);
    }
}

/* --- life and death ---------------------------------------------------------------------------------------- */

static void context_begin(struct CUctx_st *context, struct device *device, unsigned flags)
{
    context->device = device;
    context->flags = flags | CU_CTX_MAP_HOST;
    context->api_version = 3020;
    context->id = atomic_fetch_add(&next_id, 1);
    context->generation++;
    atomic_store(&context->limits[CU_LIMIT_STACK_SIZE], 1024);
    atomic_store(&context->limits[CU_LIMIT_PRINTF_FIFO_SIZE], 1 << 20);
    atomic_store(&context->limits[CU_LIMIT_MALLOC_HEAP_SIZE], 8 << 20);
    atomic_store(&context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH], 2);
    atomic_store(&context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT], 2048);
    atomic_store(&context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY], 64);
    pthread_mutex_init(&context->lock, NULL);
    context->legacy = stream_make_legacy(context);
}

static void context_end(struct CUctx_st *context)
{
    atomic_store(&context->object.kind, OBJECT_DEAD);
    capture_context_ending(context);
    streams_destroy(context);
    modules_destroy(context);
    memory_context_ended(context);
}

struct CUctx_st *context_primary(struct device *device)
{
    pthread_mutex_lock(&primary_lock);
    struct CUctx_st *context = device->primary;
    if (!context) {
        context = calloc(1, sizeof(*context));
        device->primary = context;
    }
    if (context && !object_is(context, OBJECT_CONTEXT)) {
        context->is_primary = true;
        context_begin(context, device, context->flags);
        atomic_store(&context->object.kind, OBJECT_CONTEXT);
    }
    pthread_mutex_unlock(&primary_lock);
    return context;
}

static void primary_end(struct CUctx_st *context)
{
    context->retained = 0;
    if (object_is(context, OBJECT_CONTEXT)) {
        context_end(context);
    }
}

static CUresult create(CUcontext *handle, unsigned flags, CUdevice ordinal)
{
    REQUIRE(handle);
    REQUIRE((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    REQUIRE_DEVICE(device, ordinal);
    struct CUctx_st *context = pool_take(&context_pool, OBJECT_CONTEXT);
    if (!context) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context_begin(context, device, flags);
    if (!context_push(context)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = context;
    return CUDA_SUCCESS;
}

/* --- exported: created contexts ------------------------------------------------------------------------------ */

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *handle, unsigned flags, CUdevice ordinal)
{
    ENTER(cuCtxCreate_v2);
    return create(handle, flags, ordinal);
}

CUresult CUDAAPI cuCtxCreate_v3(CUcontext *handle, CUexecAffinityParam *affinities, int count, unsigned flags,
                                CUdevice ordinal)
{
    ENTER(cuCtxCreate_v3);
    if (affinities && count > 0) {
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    }
    return create(handle, flags, ordinal);
}

CUresult CUDAAPI cuCtxCreate_v4(CUcontext *handle, CUctxCreateParams *parameters, unsigned flags, CUdevice ordinal)
{
    ENTER(cuCtxCreate_v4);
    if (parameters && parameters->numExecAffinityParams > 0) {
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    }
    return create(handle, flags, ordinal);
}

static CUresult destroy(CUcontext context)
{
    if (!object_is(context, OBJECT_CONTEXT)) {
        return context ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_VALUE;
    }
    if (context->is_primary) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    context_end(context);
    if (context_current() == context) {
        context_pop();
    }
    pool_give(&context_pool, context);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxDestroy(CUcontext context)
{
    ENTER(cuCtxDestroy);
    return destroy(context);
}

CUresult CUDAAPI cuCtxDestroy_v2(CUcontext context)
{
    ENTER(cuCtxDestroy_v2);
    return destroy(context);
}
