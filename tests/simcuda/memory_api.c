/* The exported functions that allocate and free device and host memory. */
#include "capture.h"
#include "graph_memory.h"
#include "memory.h"
#include "require.h"

#define PITCH_BYTES ((size_t)512)

static CUresult allocate(struct CUctx_st *context, size_t bytes, enum memory_kind kind, unsigned flags,
                         CUdeviceptr *address)
{
    TRY(capture_forbids_unsafe());
    REQUIRE(address && bytes);
    bool on_device = (kind & MEMORY_ON_DEVICE) != 0;
    struct memory_range range = {.bytes = bytes,
                                 .kind = kind,
                                 .flags = flags,
                                 .context = context->root,
                                 .context_id = context->root->id,
                                 .device = on_device ? context->device : NULL};
    TRY(memory_allocate(&range));
    *address = range.address;
    return CUDA_SUCCESS;
}

/* Freeing waits for the device. */
static CUresult release(struct CUctx_st *context, CUdeviceptr address, unsigned kinds)
{
    TRY(capture_forbids_unsafe());
    if (!address) {
        return CUDA_SUCCESS;
    }
    streams_wait_idle(context);
    return kinds & MEMORY_DEVICE && memory_holds(address, 1, MEMORY_GRAPH)
               ? graph_memory_client_frees(address)
               : memory_release(address, kinds);
}

/* --- device memory ------------------------------------------------------------------------------------- */

CUresult CUDAAPI cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    ENTER_IN_CONTEXT(cuMemGetInfo_v2, context);
    REQUIRE(free_bytes && total_bytes);
    *total_bytes = (size_t)context->device->model->memory_mib << 20;
    *free_bytes = *total_bytes - atomic_load(&context->device->used_bytes);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    ENTER_IN_CONTEXT(cuMemAlloc_v2, context);
    return allocate(context, bytes, MEMORY_DEVICE, 0, address);
}

CUresult CUDAAPI cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                                    unsigned element_bytes)
{
    ENTER_IN_CONTEXT(cuMemAllocPitch_v2, context);
    REQUIRE(pitch && width && height);
    REQUIRE(element_bytes == 4 || element_bytes == 8 || element_bytes == 16);
    *pitch = (width + PITCH_BYTES - 1) & ~(PITCH_BYTES - 1);
    return allocate(context, *pitch * height, MEMORY_DEVICE, 0, address);
}

CUresult CUDAAPI cuMemFree_v2(CUdeviceptr address)
{
    ENTER_IN_CONTEXT(cuMemFree_v2, context);
    return release(context, address, MEMORY_DEVICE | MEMORY_MANAGED | MEMORY_ASYNC);
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    ENTER_IN_CONTEXT(cuMemAllocManaged, context);
    REQUIRE(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST);
    return allocate(context, bytes, MEMORY_MANAGED, flags, address);
}

CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    ENTER_IN_CONTEXT(cuMemGetAddressRange_v2, context);
    struct memory_range range;
    if (!memory_find(address, &range)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    if (base) {
        *base = range.address;
    }
    if (bytes) {
        *bytes = range.bytes;
    }
    return CUDA_SUCCESS;
}

/* --- host memory --------------------------------------------------------------------------------------- */

CUresult CUDAAPI cuMemAllocHost_v2(void **address, size_t bytes)
{
    ENTER_IN_CONTEXT(cuMemAllocHost_v2, context);
    return allocate(context, bytes, MEMORY_PINNED, CU_MEMHOSTALLOC_DEVICEMAP, (CUdeviceptr *)address);
}

CUresult CUDAAPI cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    ENTER_IN_CONTEXT(cuMemHostAlloc, context);
    REQUIRE((flags & ~7u) == 0);
    return allocate(context, bytes, MEMORY_PINNED, flags, (CUdeviceptr *)address);
}

CUresult CUDAAPI cuMemFreeHost(void *address)
{
    ENTER_IN_CONTEXT(cuMemFreeHost, context);
    return release(context, (CUdeviceptr)address, MEMORY_PINNED);
}

CUresult CUDAAPI cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
    ENTER_IN_CONTEXT(cuMemHostRegister_v2, context);
    TRY(capture_forbids_unsafe());
    REQUIRE(address && bytes && (flags & ~15u) == 0);
    struct memory_range range = {.address = (CUdeviceptr)address,
                                 .bytes = bytes,
                                 .kind = MEMORY_REGISTERED,
                                 .flags = flags,
                                 .context = context->root,
                                 .context_id = context->root->id};
    struct memory_range known;
    if (memory_find(range.address, &known)) {
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    return memory_register(&range);
}

CUresult CUDAAPI cuMemHostUnregister(void *address)
{
    ENTER_IN_CONTEXT(cuMemHostUnregister, context);
    TRY(capture_forbids_unsafe());
    REQUIRE(address);
    CUresult result = memory_release((CUdeviceptr)address, MEMORY_REGISTERED);
    return result == CUDA_SUCCESS ? result : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr *device_address, void *address, unsigned flags)
{
    ENTER_IN_CONTEXT(cuMemHostGetDevicePointer_v2, context);
    REQUIRE(device_address && flags == 0);
    REQUIRE(memory_holds((CUdeviceptr)address, 1, MEMORY_ON_HOST));
    *device_address = (CUdeviceptr)address;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned *flags, void *address)
{
    ENTER_IN_CONTEXT(cuMemHostGetFlags, context);
    struct memory_range range;
    REQUIRE(flags && memory_find((CUdeviceptr)address, &range) && range.kind == MEMORY_PINNED);
    *flags = range.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

/* --- managed memory: hints ----------------------------------------------------------------------------- */

CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device)
{
    ENTER(cuMemAdvise);
    (void)device;
    REQUIRE(advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && memory_holds(address, bytes, MEMORY_MANAGED));
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                CUmemLocation location)
{
    ENTER(cuMemAdvise_v2);
    (void)location;
    REQUIRE(advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && memory_holds(address, bytes, MEMORY_MANAGED));
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuMemPrefetchAsync, _ptsz, (address, bytes, device, stream), CUdeviceptr address, size_t bytes,
             CUdevice device, CUstream stream)
{
    ENTER_STREAM(stream);
    (void)device;
    REQUIRE(memory_holds(address, bytes, MEMORY_MANAGED));
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuMemPrefetchAsync_v2, _ptsz, (address, bytes, location, flags, stream), CUdeviceptr address,
             size_t bytes, CUmemLocation location, unsigned flags, CUstream stream)
{
    ENTER_STREAM(stream);
    (void)location;
    REQUIRE(flags == 0 && memory_holds(address, bytes, MEMORY_MANAGED));
    return CUDA_SUCCESS;
}

/* --- between devices ----------------------------------------------------------------------------------- */

CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice from, CUdevice to)
{
    ENTER(cuDeviceCanAccessPeer);
    REQUIRE(can);
    REQUIRE_DEVICE(device, from);
    REQUIRE_DEVICE(peer, to);
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                         CUdevice to)
{
    ENTER(cuDeviceGetP2PAttribute);
    REQUIRE(value);
    REQUIRE_DEVICE(device, from);
    REQUIRE_DEVICE(peer, to);
    if (device == peer) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    ENTER_IN_CONTEXT(cuCtxEnablePeerAccess, context);
    REQUIRE(flags == 0);
    if (!object_is(peer, OBJECT_CONTEXT) || peer == context || peer->device == context->device) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    uint32_t bit = 1u << peer->device->ordinal;
    uint32_t before = atomic_fetch_or(&context->peers, bit);
    return before & bit ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peer)
{
    ENTER_IN_CONTEXT(cuCtxDisablePeerAccess, context);
    if (!object_is(peer, OBJECT_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    uint32_t bit = 1u << peer->device->ordinal;
    uint32_t before = atomic_fetch_and(&context->peers, ~bit);
    return before & bit ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
