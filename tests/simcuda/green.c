/* Green contexts: the primary context of a device with fewer SMs. Modules and memory are the primary
 * context's, streams and the number of SMs its own. */
#include "context.h"

#include "event.h"
#include "require.h"
#include "stream.h"

#include <string.h>

struct CUgreenCtx_st {
    struct object object;
    struct CUctx_st *context;
};

/* No call destroys one. */
struct CUdevResourceDesc_st {
    struct object object;
    struct CUdevResourceDesc_st *next;
    struct device *device;
    unsigned sms;
};

static struct pool green_pool = POOL(struct CUgreenCtx_st);
static struct pool context_pool = POOL(struct CUctx_st);
static struct pool descriptor_pool = POOL(struct CUdevResourceDesc_st);
static _Atomic(struct CUdevResourceDesc_st *) descriptors;

/* --- resources ----------------------------------------------------------------------------------------- */

/* The smallest partition, and what its size is a multiple of: cuda.h on green contexts. */
static unsigned least_sms(const struct device *device)
{
    int major = device->sm->capability / 10;
    return major >= 9 ? 8 : major == 8 ? 4 : 2;
}

static unsigned alignment_sms(const struct device *device)
{
    return device->sm->capability / 10 >= 9 ? 8 : 2;
}

static void resource_fill(CUdevResource *resource, const struct device *device, unsigned sms)
{
    memset(resource, 0, sizeof(*resource));
    resource->type = CU_DEV_RESOURCE_TYPE_SM;
    resource->sm.smCount = sms;
    resource->sm.minSmPartitionSize = least_sms(device);
    resource->sm.smCoscheduledAlignment = alignment_sms(device);
    resource->_internal_padding[0] = (unsigned char)device->ordinal;
}

static struct device *resource_device(const CUdevResource *resource)
{
    return resource->type == CU_DEV_RESOURCE_TYPE_SM ? device_of(resource->_internal_padding[0]) : NULL;
}

static CUresult answer(CUdevResource *resource, CUdevResourceType type, const struct device *device, int sms)
{
    REQUIRE(resource);
    if (type != CU_DEV_RESOURCE_TYPE_SM) {
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    resource_fill(resource, device, (unsigned)sms);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetDevResource(CUdevice ordinal, CUdevResource *resource, CUdevResourceType type)
{
    ENTER(cuDeviceGetDevResource);
    REQUIRE_DEVICE(device, ordinal);
    return answer(resource, type, device, device->model->sms);
}

CUresult CUDAAPI cuCtxGetDevResource(CUcontext context, CUdevResource *resource, CUdevResourceType type)
{
    ENTER(cuCtxGetDevResource);
    if (!object_is(context, OBJECT_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return answer(resource, type, context->device, context->sms);
}

CUresult CUDAAPI cuGreenCtxGetDevResource(CUgreenCtx green, CUdevResource *resource, CUdevResourceType type)
{
    ENTER(cuGreenCtxGetDevResource);
    if (!object_is(green, OBJECT_GREEN_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return answer(resource, type, green->context->device, green->context->sms);
}

CUresult CUDAAPI cuDevSmResourceSplitByCount(CUdevResource *groups, unsigned *groups_count,
                                             const CUdevResource *input, CUdevResource *remaining,
                                             unsigned flags, unsigned least)
{
    ENTER(cuDevSmResourceSplitByCount);
    REQUIRE(groups_count && input && (flags & ~3u) == 0 && least <= input->sm.smCount);
    const struct device *device = resource_device(input);
    if (!device) {
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    bool loose = flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
    unsigned unit = loose ? 2 : alignment_sms(device), floor = loose ? 2 : least_sms(device);
    unsigned size = ((least > floor ? least : floor) + unit - 1) / unit * unit;
    unsigned most = input->sm.smCount / size;
    if (!groups || *groups_count > most) {
        *groups_count = most;
    }
    for (unsigned i = 0; groups && i < *groups_count; i++) {
        resource_fill(&groups[i], device, size);
    }
    if (remaining) {
        resource_fill(remaining, device, input->sm.smCount - size * *groups_count);
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevResourceGenerateDesc(CUdevResourceDesc *handle, CUdevResource *resources,
                                           unsigned count)
{
    ENTER(cuDevResourceGenerateDesc);
    REQUIRE(handle && resources && count);
    struct device *device = resource_device(&resources[0]);
    unsigned sms = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!device || resource_device(&resources[i]) != device) {
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        }
        sms += resources[i].sm.smCount;
    }
    struct CUdevResourceDesc_st *descriptor = pool_take(&descriptor_pool, OBJECT_RESOURCES);
    if (!descriptor) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    descriptor->device = device;
    descriptor->sms = sms;
    descriptor->next = atomic_load(&descriptors);
    while (!atomic_compare_exchange_weak(&descriptors, &descriptor->next, descriptor)) {
    }
    *handle = descriptor;
    return CUDA_SUCCESS;
}

/* --- contexts ------------------------------------------------------------------------------------------ */

static struct CUctx_st *context_make(struct device *device, unsigned sms)
{
    struct CUctx_st *primary = context_primary(device);
    struct CUctx_st *context = primary ? pool_take(&context_pool, OBJECT_CONTEXT) : NULL;
    if (context) {
        context_begin(context, device, 0);
        context->root = primary;
        context->sms = (int)sms;
    }
    return context;
}

CUresult CUDAAPI cuGreenCtxCreate(CUgreenCtx *handle, CUdevResourceDesc descriptor, CUdevice ordinal,
                                  unsigned flags)
{
    ENTER(cuGreenCtxCreate);
    REQUIRE(handle && flags == CU_GREEN_CTX_DEFAULT_STREAM && object_is(descriptor, OBJECT_RESOURCES));
    REQUIRE_DEVICE(device, ordinal);
    if (descriptor->device != device) {
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    struct CUgreenCtx_st *green = pool_take(&green_pool, OBJECT_GREEN_CONTEXT);
    struct CUctx_st *context = green ? context_make(device, descriptor->sms) : NULL;
    if (!context) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    green->context = context;
    context->green = green;
    *handle = green;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGreenCtxDestroy(CUgreenCtx green)
{
    ENTER(cuGreenCtxDestroy);
    if (!object_is(green, OBJECT_GREEN_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    context_end(green->context);
    pool_give(&context_pool, green->context);
    pool_give(&green_pool, green);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green)
{
    ENTER(cuCtxFromGreenCtx);
    REQUIRE(context);
    if (!object_is(green, OBJECT_GREEN_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *context = green->context;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGreenCtxGetId(CUgreenCtx green, unsigned long long *id)
{
    ENTER(cuGreenCtxGetId);
    REQUIRE(id);
    if (!object_is(green, OBJECT_GREEN_CONTEXT)) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *id = green->context->id;
    return CUDA_SUCCESS;
}

/* --- streams ------------------------------------------------------------------------------------------- */

CUresult CUDAAPI cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned flags, int priority)
{
    ENTER(cuGreenCtxStreamCreate);
    REQUIRE(stream && flags == CU_STREAM_NON_BLOCKING);
    if (!object_is(green, OBJECT_GREEN_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *stream = stream_make(green->context, flags, priority);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuStreamGetGreenCtx(CUstream stream, CUgreenCtx *green)
{
    static const struct entry entry = {CALL_cuStreamGetGreenCtx, false};
    TRY(stream_enter(&entry, &stream));
    REQUIRE(green);
    *green = stream->context->green;
    return CUDA_SUCCESS;
}
