/* What is current on a thread, and the settings of the current context. */
#include "context.h"

#include "capture.h"
#include "memory.h"
#include "module.h"
#include "require.h"
#include "stream.h"

/* --- the thread's stack -------------------------------------------------------------------------------- */

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

/* --- exported: current context ------------------------------------------------------------------------- */

static CUresult push(CUcontext context)
{
    REQUIRE(context);
    if (!object_is(context, OBJECT_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return context_push(context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context)
{
    ENTER(cuCtxPushCurrent);
    return push(context);
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER(cuCtxPushCurrent_v2);
    return push(context);
}

static CUresult pop(CUcontext *popped)
{
    struct CUctx_st *context = context_pop();
    if (!context) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (popped) {
        *popped = context;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext *popped)
{
    ENTER(cuCtxPopCurrent);
    return pop(popped);
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *popped)
{
    ENTER(cuCtxPopCurrent_v2);
    return pop(popped);
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context)
{
    ENTER(cuCtxSetCurrent);
    if (context && !object_is(context, OBJECT_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    context_set(context);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context)
{
    ENTER(cuCtxGetCurrent);
    REQUIRE(context);
    *context = context_current();
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
    ENTER_IN_CONTEXT(cuCtxGetDevice, context);
    REQUIRE(device);
    *device = context->device->ordinal;
    return CUDA_SUCCESS;
}

/* The context asked about: the given one, or the current one for NULL. */
static CUresult chosen(CUcontext given, struct CUctx_st **context)
{
    if (!given) {
        return context_require_current(context);
    }
    *context = given;
    return object_is(given, OBJECT_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice *device, CUcontext given)
{
    ENTER(cuCtxGetDevice_v2);
    REQUIRE(device);
    struct CUctx_st *context;
    TRY(chosen(given, &context));
    *device = context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetId(CUcontext given, unsigned long long *id)
{
    ENTER(cuCtxGetId);
    REQUIRE(id);
    struct CUctx_st *context;
    TRY(chosen(given, &context));
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext given, unsigned *version)
{
    ENTER(cuCtxGetApiVersion);
    REQUIRE(version);
    struct CUctx_st *context;
    TRY(chosen(given, &context));
    *version = context->api_version;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetFlags(unsigned *flags)
{
    ENTER_IN_CONTEXT(cuCtxGetFlags, context);
    REQUIRE(flags);
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetFlags(unsigned flags)
{
    ENTER_IN_CONTEXT(cuCtxSetFlags, context);
    REQUIRE((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    context->flags = flags | CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
}

static CUresult synchronize(struct CUctx_st *context)
{
    TRY(capture_forbids_synchronize(context));
    streams_wait_idle(context);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
    ENTER_IN_CONTEXT(cuCtxSynchronize, context);
    return synchronize(context);
}

CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext given)
{
    ENTER(cuCtxSynchronize_v2);
    struct CUctx_st *context;
    TRY(chosen(given, &context));
    return synchronize(context);
}

/* --- exported: settings of the current context --------------------------------------------------------- */

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value)
{
    ENTER_IN_CONTEXT(cuCtxSetLimit, context);
    if (limit >= CU_LIMIT_SHMEM_SIZE) {
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    atomic_store(&context->limits[limit], value);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetLimit(size_t *value, CUlimit limit)
{
    ENTER_IN_CONTEXT(cuCtxGetLimit, context);
    REQUIRE(value);
    if (limit >= CU_LIMIT_MAX) {
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    *value = atomic_load(&context->limits[limit]);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache *config)
{
    ENTER_IN_CONTEXT(cuCtxGetCacheConfig, context);
    REQUIRE(config);
    *config = (CUfunc_cache)atomic_load(&context->cache_config);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config)
{
    ENTER_IN_CONTEXT(cuCtxSetCacheConfig, context);
    REQUIRE(config <= CU_FUNC_CACHE_PREFER_EQUAL);
    atomic_store(&context->cache_config, (int)config);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    ENTER_IN_CONTEXT(cuCtxGetSharedMemConfig, context);
    REQUIRE(config);
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    ENTER_IN_CONTEXT(cuCtxSetSharedMemConfig, context);
    REQUIRE(config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    ENTER_IN_CONTEXT(cuCtxGetStreamPriorityRange, context);
    if (least) {
        *least = STREAM_PRIORITY_LEAST;
    }
    if (greatest) {
        *greatest = STREAM_PRIORITY_GREATEST;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxResetPersistingL2Cache(void)
{
    ENTER_IN_CONTEXT(cuCtxResetPersistingL2Cache, context);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
    ENTER_IN_CONTEXT(cuCtxGetExecAffinity, context);
    REQUIRE(affinity);
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    }
    affinity->type = type;
    affinity->param.smCount.val = (unsigned)context->device->model->sms;
    return CUDA_SUCCESS;
}
