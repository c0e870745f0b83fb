/* Primary contexts: one a device, at the same address whenever it is alive. */
#include "context.h"

#include "require.h"

#include <stdlib.h>

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;

/* The object, alive or not. Under the lock. */
static struct CUctx_st *primary_object(struct device *device)
{
    if (!device->primary) {
        device->primary = calloc(1, sizeof(*device->primary));
    }
    return device->primary;
}

struct CUctx_st *context_primary(struct device *device)
{
    pthread_mutex_lock(&primary_lock);
    struct CUctx_st *context = primary_object(device);
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

/* --- exported: primary contexts ------------------------------------------------------------------------ */

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice ordinal)
{
    ENTER(cuDevicePrimaryCtxRetain);
    REQUIRE(handle);
    REQUIRE_DEVICE(device, ordinal);
    struct CUctx_st *context = context_primary(device);
    if (!context) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&primary_lock);
    context->retained++;
    pthread_mutex_unlock(&primary_lock);
    *handle = context;
    return CUDA_SUCCESS;
}

static CUresult release(CUdevice ordinal)
{
    REQUIRE_DEVICE(device, ordinal);
    pthread_mutex_lock(&primary_lock);
    struct CUctx_st *context = device->primary;
    CUresult result = context && context->retained ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS && --context->retained == 0) {
        primary_end(context);
    }
    pthread_mutex_unlock(&primary_lock);
    return result;
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice ordinal)
{
    ENTER(cuDevicePrimaryCtxRelease);
    return release(ordinal);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice ordinal)
{
    ENTER(cuDevicePrimaryCtxRelease_v2);
    return release(ordinal);
}

static CUresult reset(CUdevice ordinal)
{
    REQUIRE_DEVICE(device, ordinal);
    pthread_mutex_lock(&primary_lock);
    if (device->primary) {
        primary_end(device->primary);
    }
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice ordinal)
{
    ENTER(cuDevicePrimaryCtxReset);
    return reset(ordinal);
}

CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice ordinal)
{
    ENTER(cuDevicePrimaryCtxReset_v2);
    return reset(ordinal);
}

static CUresult set_flags(CUdevice ordinal, unsigned flags)
{
    REQUIRE((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    REQUIRE_DEVICE(device, ordinal);
    pthread_mutex_lock(&primary_lock);
    struct CUctx_st *context = primary_object(device);
    if (context) {
        context->flags = flags;
    }
    pthread_mutex_unlock(&primary_lock);
    return context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags)
{
    ENTER(cuDevicePrimaryCtxSetFlags);
    return set_flags(ordinal, flags);
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags)
{
    ENTER(cuDevicePrimaryCtxSetFlags_v2);
    return set_flags(ordinal, flags);
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active)
{
    ENTER(cuDevicePrimaryCtxGetState);
    REQUIRE(flags && active);
    REQUIRE_DEVICE(device, ordinal);
    pthread_mutex_lock(&primary_lock);
    struct CUctx_st *context = device->primary;
    *flags = context ? context->flags : 0;
    *active = context && object_is(context, OBJECT_CONTEXT);
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}
