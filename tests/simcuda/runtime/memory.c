/* Memory: device, host, managed, stream-ordered and pools; what a pointer points to. */
#include "runtime.h"

#include <string.h>

/* --- device memory -------------------------------------------------------------------------------------- */

static cudaError_t allocate(const struct driver_api *driver, void **out, size_t bytes)
{
    if (out == NULL) {
        return cudaErrorInvalidValue;
    }
    *out = NULL;
    return bytes == 0 ? cudaSuccess : (cudaError_t)driver->cuMemAlloc((CUdeviceptr *)out, bytes);
}
RUNTIME_CALL(cudaMalloc, (void **devPtr, size_t size), allocate(driver, devPtr, size))

RUNTIME_CALL(cudaFree, (void *devPtr), devPtr == NULL ? CUDA_SUCCESS : driver->cuMemFree((CUdeviceptr)devPtr))

/* A pitch for rows of 16-byte elements suits every element. */
static cudaError_t allocate_pitched(const struct driver_api *driver, void **out, size_t *pitch, size_t width,
                                    size_t height)
{
    if (out == NULL || pitch == NULL) {
        return cudaErrorInvalidValue;
    }
    *out = NULL;
    *pitch = 0;
    if (width == 0 || height == 0) {
        return cudaSuccess;
    }
    return (cudaError_t)driver->cuMemAllocPitch((CUdeviceptr *)out, pitch, width, height, 16);
}
RUNTIME_CALL(cudaMallocPitch, (void **devPtr, size_t *pitch, size_t width, size_t height),
             allocate_pitched(driver, devPtr, pitch, width, height))

static cudaError_t allocate_3d(const struct driver_api *driver, struct cudaPitchedPtr *out,
                               struct cudaExtent extent)
{
    if (out == NULL) {
        return cudaErrorInvalidValue;
    }
    *out = (struct cudaPitchedPtr){.xsize = extent.width, .ysize = extent.height};
    return allocate_pitched(driver, &out->ptr, &out->pitch, extent.width, extent.height * extent.depth);
}
RUNTIME_CALL(cudaMalloc3D, (struct cudaPitchedPtr * pitchedDevPtr, struct cudaExtent extent),
             allocate_3d(driver, pitchedDevPtr, extent))

RUNTIME_CALL(cudaMemGetInfo, (size_t * free, size_t *total), driver->cuMemGetInfo(free, total))

/* --- managed memory ------------------------------------------------------------------------------------- */

RUNTIME_CALL(cudaMallocManaged, (void **devPtr, size_t size, unsigned flags),
             driver->cuMemAllocManaged((CUdeviceptr *)devPtr, size, flags))

_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "locations are passed through");

static CUmemLocation driver_location(struct cudaMemLocation location)
{
    return (CUmemLocation){.type = (CUmemLocationType)location.type, .id = location.id};
}

RUNTIME_CALL(cudaMemAdvise,
             (const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
              struct cudaMemLocation location),
             driver->cuMemAdvise((CUdeviceptr)devPtr, count, (CUmem_advise)advice, driver_location(location)))

RUNTIME_CALL_PTSZ(cudaMemPrefetchAsync,
                  (const void *devPtr, size_t count, struct cudaMemLocation location, unsigned flags,
                   cudaStream_t stream),
                  driver->cuMemPrefetchAsync((CUdeviceptr)devPtr, count, driver_location(location), flags,
                                             stream))

RUNTIME_CALL_PTSZ(cudaMemPrefetchBatchAsync,
                  (void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
                   size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                   cudaStream_t stream),
                  driver->cuMemPrefetchBatchAsync((CUdeviceptr *)dptrs, sizes, count,
                                                  (CUmemLocation *)prefetchLocs, prefetchLocIdxs,
                                                  numPrefetchLocs, flags, stream))

RUNTIME_CALL_PTSZ(cudaMemDiscardBatchAsync,
                  (void **dptrs, size_t *sizes, size_t count, unsigned long long flags, cudaStream_t stream),
                  driver->cuMemDiscardBatchAsync((CUdeviceptr *)dptrs, sizes, count, flags, stream))

RUNTIME_CALL_PTSZ(cudaMemDiscardAndPrefetchBatchAsync,
                  (void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
                   size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                   cudaStream_t stream),
                  driver->cuMemDiscardAndPrefetchBatchAsync((CUdeviceptr *)dptrs, sizes, count,
                                                            (CUmemLocation *)prefetchLocs, prefetchLocIdxs,
                                                            numPrefetchLocs, flags, stream))

RUNTIME_CALL(cudaMemRangeGetAttribute,
             (void *data, size_t dataSize, enum cudaMemRangeAttribute attribute, const void *devPtr,
              size_t count),
             driver->cuMemRangeGetAttribute(data, dataSize, (CUmem_range_attribute)attribute,
                                            (CUdeviceptr)devPtr, count))

RUNTIME_CALL(cudaMemRangeGetAttributes,
             (void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes, size_t numAttributes,
              const void *devPtr, size_t count),
             driver->cuMemRangeGetAttributes(data, dataSizes, (CUmem_range_attribute *)attributes,
                                             numAttributes, (CUdeviceptr)devPtr, count))

/* --- host memory ---------------------------------------------------------------------------------------- */

static cudaError_t allocate_host(const struct driver_api *driver, void **out, size_t bytes, unsigned flags)
{
    if (out == NULL) {
        return cudaErrorInvalidValue;
    }
    *out = NULL;
    return bytes == 0 ? cudaSuccess : (cudaError_t)driver->cuMemHostAlloc(out, bytes, flags);
}
RUNTIME_CALL(cudaHostAlloc, (void **pHost, size_t size, unsigned flags),
             allocate_host(driver, pHost, size, flags))
RUNTIME_CALL(cudaMallocHost, (void **ptr, size_t size),
             allocate_host(driver, ptr, size, CU_MEMHOSTALLOC_PORTABLE))

RUNTIME_CALL(cudaFreeHost, (void *ptr), ptr == NULL ? CUDA_SUCCESS : driver->cuMemFreeHost(ptr))

RUNTIME_CALL(cudaHostRegister, (void *ptr, size_t size, unsigned flags),
             driver->cuMemHostRegister(ptr, size, flags))
RUNTIME_CALL(cudaHostUnregister, (void *ptr), driver->cuMemHostUnregister(ptr))
RUNTIME_CALL(cudaHostGetDevicePointer, (void **pDevice, void *pHost, unsigned flags),
             driver->cuMemHostGetDevicePointer((CUdeviceptr *)pDevice, pHost, flags))
RUNTIME_CALL(cudaHostGetFlags, (unsigned *pFlags, void *pHost), driver->cuMemHostGetFlags(pFlags, pHost))

/* --- stream-ordered memory and pools -------------------------------------------------------------------- */

RUNTIME_CALL_PTSZ(cudaMallocAsync, (void **devPtr, size_t size, cudaStream_t hStream),
                  driver->cuMemAllocAsync((CUdeviceptr *)devPtr, size, hStream))
RUNTIME_CALL_PTSZ(cudaMallocFromPoolAsync,
                  (void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
                  driver->cuMemAllocFromPoolAsync((CUdeviceptr *)ptr, size, memPool, stream))
RUNTIME_CALL_PTSZ(cudaFreeAsync, (void *devPtr, cudaStream_t hStream),
                  driver->cuMemFreeAsync((CUdeviceptr)devPtr, hStream))

RUNTIME_CALL(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * memPool, int device),
             driver->cuDeviceGetDefaultMemPool(memPool, device))
RUNTIME_CALL(cudaDeviceGetMemPool, (cudaMemPool_t * memPool, int device),
             driver->cuDeviceGetMemPool(memPool, device))
RUNTIME_CALL(cudaDeviceSetMemPool, (int device, cudaMemPool_t memPool),
             driver->cuDeviceSetMemPool(device, memPool))

RUNTIME_CALL(cudaMemGetDefaultMemPool,
             (cudaMemPool_t * memPool, struct cudaMemLocation *location, enum cudaMemAllocationType type),
             driver->cuMemGetDefaultMemPool(memPool, (CUmemLocation *)location, (CUmemAllocationType)type))
RUNTIME_CALL(cudaMemGetMemPool,
             (cudaMemPool_t * memPool, struct cudaMemLocation *location, enum cudaMemAllocationType type),
             driver->cuMemGetMemPool(memPool, (CUmemLocation *)location, (CUmemAllocationType)type))
RUNTIME_CALL(cudaMemSetMemPool,
             (struct cudaMemLocation * location, enum cudaMemAllocationType type, cudaMemPool_t memPool),
             driver->cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, memPool))

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "passed through");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "passed through");

RUNTIME_CALL(cudaMemPoolCreate, (cudaMemPool_t * memPool, const struct cudaMemPoolProps *poolProps),
             driver->cuMemPoolCreate(memPool, (const CUmemPoolProps *)poolProps))
RUNTIME_CALL(cudaMemPoolDestroy, (cudaMemPool_t memPool), driver->cuMemPoolDestroy(memPool))
RUNTIME_CALL(cudaMemPoolTrimTo, (cudaMemPool_t memPool, size_t minBytesToKeep),
             driver->cuMemPoolTrimTo(memPool, minBytesToKeep))
RUNTIME_CALL(cudaMemPoolSetAttribute, (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
             driver->cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value))
RUNTIME_CALL(cudaMemPoolGetAttribute, (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
             driver->cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value))
RUNTIME_CALL(cudaMemPoolSetAccess,
             (cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count),
             driver->cuMemPoolSetAccess(memPool, (const CUmemAccessDesc *)descList, count))
RUNTIME_CALL(cudaMemPoolGetAccess,
             (enum cudaMemAccessFlags * flags, cudaMemPool_t memPool, struct cudaMemLocation *location),
             driver->cuMemPoolGetAccess((CUmemAccess_flags *)flags, memPool, (CUmemLocation *)location))

RUNTIME_CALL(cudaMemPoolExportToShareableHandle,
             (void *shareableHandle, cudaMemPool_t memPool, enum cudaMemAllocationHandleType handleType,
              unsigned flags),
             driver->cuMemPoolExportToShareableHandle(shareableHandle, memPool,
                                                      (CUmemAllocationHandleType)handleType, flags))
RUNTIME_CALL(cudaMemPoolImportFromShareableHandle,
             (cudaMemPool_t * memPool, void *shareableHandle, enum cudaMemAllocationHandleType handleType,
              unsigned flags),
             driver->cuMemPoolImportFromShareableHandle(memPool, shareableHandle,
                                                        (CUmemAllocationHandleType)handleType, flags))
RUNTIME_CALL(cudaMemPoolExportPointer, (struct cudaMemPoolPtrExportData * exportData, void *ptr),
             driver->cuMemPoolExportPointer((CUmemPoolPtrExportData *)exportData, (CUdeviceptr)ptr))
RUNTIME_CALL(cudaMemPoolImportPointer,
             (void **ptr, cudaMemPool_t memPool, struct cudaMemPoolPtrExportData *exportData),
             driver->cuMemPoolImportPointer((CUdeviceptr *)ptr, memPool,
                                            (CUmemPoolPtrExportData *)exportData))

/* --- other processes ------------------------------------------------------------------------------------ */

RUNTIME_CALL(cudaIpcGetEventHandle, (cudaIpcEventHandle_t * handle, cudaEvent_t event),
             driver->cuIpcGetEventHandle((CUipcEventHandle *)handle, event))
RUNTIME_CALL(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *devPtr),
             driver->cuIpcGetMemHandle((CUipcMemHandle *)handle, (CUdeviceptr)devPtr))
RUNTIME_CALL(cudaIpcCloseMemHandle, (void *devPtr), driver->cuIpcCloseMemHandle((CUdeviceptr)devPtr))

static CUresult open_event(const struct driver_api *driver, cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle theirs;
    memcpy(&theirs, &handle, sizeof(theirs));
    return driver->cuIpcOpenEventHandle(event, theirs);
}
RUNTIME_CALL(cudaIpcOpenEventHandle, (cudaEvent_t * event, cudaIpcEventHandle_t handle),
             open_event(driver, event, handle))

static CUresult open_memory(const struct driver_api *driver, void **out, cudaIpcMemHandle_t handle,
                            unsigned flags)
{
    CUipcMemHandle theirs;
    memcpy(&theirs, &handle, sizeof(theirs));
    return driver->cuIpcOpenMemHandle((CUdeviceptr *)out, theirs, flags);
}
RUNTIME_CALL(cudaIpcOpenMemHandle, (void **devPtr, cudaIpcMemHandle_t handle, unsigned flags),
             open_memory(driver, devPtr, handle, flags))

/* --- arrays -----------------------------------------------------------------------------------------------
 */

/* The driver has no arrays, but this is only a way to write a structure. */
RUNTIME_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                  enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = f};
}

/* --- pointers ------------------------------------------------------------------------------------------- */

/* The driver fills what it does not know with zeros and no error: plain host memory has memory type 0. */
static CUresult pointer_attributes(const struct driver_api *driver, struct cudaPointerAttributes *out,
                                   const void *pointer)
{
    unsigned memory_type = 0, is_managed = 0;
    int device = cudaInvalidDeviceId;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = NULL;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *answers[] = {&memory_type, &is_managed, &device, &device_pointer, &host_pointer};
    CUresult result = driver->cuPointerGetAttributes(5, asked, answers, (CUdeviceptr)pointer);
    memset(out, 0, sizeof(*out));
    if (result != CUDA_SUCCESS) {
        return result;
    }
    out->type = is_managed ? cudaMemoryTypeManaged : (enum cudaMemoryType)memory_type;
    out->device = memory_type == 0 ? cudaInvalidDeviceId : device;
    out->devicePointer = (void *)device_pointer;
    out->hostPointer = memory_type == 0 ? (void *)pointer : host_pointer;
    return CUDA_SUCCESS;
}
RUNTIME_CALL(cudaPointerGetAttributes, (struct cudaPointerAttributes * attributes, const void *ptr),
             attributes == NULL ? CUDA_ERROR_INVALID_VALUE : pointer_attributes(driver, attributes, ptr))
