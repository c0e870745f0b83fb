/* Contexts made by the client, and what all contexts begin and end with. */
#include "context.h"

#include "capture.h"
#include "memory.h"
#include "module.h"
#include "require.h"
#include "stream.h"

static struct pool context_pool = POOL(struct CUctx_st);
static _Atomic uint64_t next_id = 1;

/* --- life and death ------------------------------------------------------------------------------------ */

void context_begin(struct CUctx_st *context, struct device *device, unsigned flags)
{
    context->device = device;
    context->root = context;
    context->sms = device->model->sms;
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

void context_end(struct CUctx_st *context)
{
    atomic_store(&context->object.kind, OBJECT_DEAD);
    capture_context_ending(context);
    streams_destroy(context);
    modules_destroy(context);
    memory_context_ended(context);
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

/* --- exported: created contexts ------------------------------------------------------------------------ */

CUresult CUDAAPI cuCtxCreate(CUcontext *handle, unsigned flags, CUdevice ordinal)
{
    ENTER(cuCtxCreate);
    return create(handle, flags, ordinal);
}

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

CUresult CUDAAPI cuCtxCreate_v4(CUcontext *handle, CUctxCreateParams *parameters, unsigned flags,
                                CUdevice ordinal)
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

/* Attaching and detaching counts uses of the current context, as before CUDA 4. */
CUresult CUDAAPI cuCtxAttach(CUcontext *handle, unsigned flags)
{
    ENTER_IN_CONTEXT(cuCtxAttach, context);
    REQUIRE(handle && flags == 0);
    context->attached++;
    *handle = context;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxDetach(CUcontext context)
{
    ENTER(cuCtxDetach);
    if (!context || context != context_current()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (context->attached) {
        context->attached--;
        return CUDA_SUCCESS;
    }
    return destroy(context);
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
