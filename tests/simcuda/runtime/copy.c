/* Copies and fills: linear, pitched, three-dimensional, between devices, and by device variable. */
#include "copy.h"

/* --- linear --------------------------------------------------------------------------------------------- */

cudaError_t copy_linear(const struct driver_api *driver, void *to, const void *from, size_t bytes,
                        enum cudaMemcpyKind kind)
{
    if (bytes == 0) {
        return cudaSuccess;
    }
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return (cudaError_t)driver->cuMemcpyHtoD((CUdeviceptr)to, from, bytes);
    case cudaMemcpyDeviceToHost:
        return (cudaError_t)driver->cuMemcpyDtoH(to, (CUdeviceptr)from, bytes);
    case cudaMemcpyDeviceToDevice:
        return (cudaError_t)driver->cuMemcpyDtoD((CUdeviceptr)to, (CUdeviceptr)from, bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return (cudaError_t)driver->cuMemcpy((CUdeviceptr)to, (CUdeviceptr)from, bytes);
    }
    return cudaErrorInvalidMemcpyDirection;
}
RUNTIME_CALL_PTDS(cudaMemcpy, (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
                  copy_linear(driver, dst, src, count, kind))

cudaError_t copy_linear_async(const struct driver_api *driver, void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (bytes == 0) {
        return cudaSuccess;
    }
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return (cudaError_t)driver->cuMemcpyHtoDAsync((CUdeviceptr)to, from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return (cudaError_t)driver->cuMemcpyDtoHAsync(to, (CUdeviceptr)from, bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return (cudaError_t)driver->cuMemcpyDtoDAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return (cudaError_t)driver->cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, stream);
    }
    return cudaErrorInvalidMemcpyDirection;
}
RUNTIME_CALL_PTSZ(cudaMemcpyAsync,
                  (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream),
                  copy_linear_async(driver, dst, src, count, kind, stream))

static cudaError_t copy_peer(const struct driver_api *driver, void *to, int to_device, const void *from,
                             int from_device, size_t bytes, bool async, cudaStream_t stream)
{
    CUcontext to_context, from_context;
    CUresult result = runtime_primary_context(driver, to_device, &to_context);
    if (result == CUDA_SUCCESS) {
        result = runtime_primary_context(driver, from_device, &from_context);
    }
    if (result != CUDA_SUCCESS || bytes == 0) {
        return (cudaError_t)result;
    }
    return (cudaError_t)(async ? driver->cuMemcpyPeerAsync((CUdeviceptr)to, to_context, (CUdeviceptr)from,
                                                           from_context, bytes, stream)
                               : driver->cuMemcpyPeer((CUdeviceptr)to, to_context, (CUdeviceptr)from,
                                                      from_context, bytes));
}
RUNTIME_CALL(cudaMemcpyPeer, (void *dst, int dstDevice, const void *src, int srcDevice, size_t count),
             copy_peer(driver, dst, dstDevice, src, srcDevice, count, false, NULL))
RUNTIME_CALL(cudaMemcpyPeerAsync,
             (void *dst, int dstDevice, const void *src, int srcDevice, size_t count, cudaStream_t stream),
             copy_peer(driver, dst, dstDevice, src, srcDevice, count, true, stream))

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "passed through");
_Static_assert(sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP), "passed through");

RUNTIME_CALL_PTSZ(cudaMemcpyBatchAsync,
                  (void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                   struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                   cudaStream_t stream),
                  driver->cuMemcpyBatchAsync((CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs,
                                             (size_t *)(uintptr_t)sizes, count, (CUmemcpyAttributes *)attrs,
                                             attrsIdxs, numAttrs, stream))
RUNTIME_CALL_PTSZ(cudaMemcpy3DBatchAsync,
                  (size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags,
                   cudaStream_t stream),
                  driver->cuMemcpy3DBatchAsync(numOps, (CUDA_MEMCPY3D_BATCH_OP *)opList, flags, stream))

/* --- the driver's form of a copy ------------------------------------------------------------------------ */

static bool memory_types(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to)
{
    if ((unsigned)kind > cudaMemcpyDefault) {
        return false;
    }
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    *from = from_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    *to = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    if (kind == cudaMemcpyDefault) {
        *from = *to = CU_MEMORYTYPE_UNIFIED;
    }
    return true;
}

/* The driver reads the host or the device field by the type: both get the address. */
static void set_source(CUDA_MEMCPY3D *out, const struct cudaMemcpy3DParms *in)
{
    if (in->srcArray != NULL) {
        out->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        out->srcArray = (CUarray)in->srcArray;
        return;
    }
    out->srcHost = in->srcPtr.ptr;
    out->srcDevice = (CUdeviceptr)in->srcPtr.ptr;
    out->srcPitch = in->srcPtr.pitch;
    out->srcHeight = in->srcPtr.ysize;
}

static void set_destination(CUDA_MEMCPY3D *out, const struct cudaMemcpy3DParms *in)
{
    if (in->dstArray != NULL) {
        out->dstMemoryType = CU_MEMORYTYPE_ARRAY;
        out->dstArray = (CUarray)in->dstArray;
        return;
    }
    out->dstHost = in->dstPtr.ptr;
    out->dstDevice = (CUdeviceptr)in->dstPtr.ptr;
    out->dstPitch = in->dstPtr.pitch;
    out->dstHeight = in->dstPtr.ysize;
}

static size_t format_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    default:
        return 4;
    }
}

/* Widths count elements where an array takes part, else bytes. */
static cudaError_t element_bytes(const struct driver_api *driver, cudaArray_const_t array, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    *bytes = 1;
    if (array == NULL) {
        return cudaSuccess;
    }
    CUresult result = driver->cuArray3DGetDescriptor(&descriptor, (CUarray)(uintptr_t)array);
    if (result == CUDA_SUCCESS) {
        *bytes = format_bytes(descriptor.Format) * descriptor.NumChannels;
    }
    return (cudaError_t)result;
}

cudaError_t copy_to_driver(const struct driver_api *driver, const struct cudaMemcpy3DParms *in,
                           CUDA_MEMCPY3D *out)
{
    size_t unit;
    if (in == NULL) {
        return cudaErrorInvalidValue;
    }
    *out = (CUDA_MEMCPY3D){0};
    if (!memory_types(in->kind, &out->srcMemoryType, &out->dstMemoryType)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    set_source(out, in);
    set_destination(out, in);
    cudaError_t error = element_bytes(driver, in->srcArray != NULL ? in->srcArray : in->dstArray, &unit);
    out->srcXInBytes = in->srcPos.x * (in->srcArray != NULL ? unit : 1);
    out->srcY = in->srcPos.y;
    out->srcZ = in->srcPos.z;
    out->dstXInBytes = in->dstPos.x * (in->dstArray != NULL ? unit : 1);
    out->dstY = in->dstPos.y;
    out->dstZ = in->dstPos.z;
    out->WidthInBytes = in->extent.width * unit;
    out->Height = in->extent.height;
    out->Depth = in->extent.depth;
    return error;
}

static bool is_device(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY;
}

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) {
        return cudaMemcpyDefault;
    }
    if (is_device(from)) {
        return is_device(to) ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
    }
    return is_device(to) ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
}

static struct cudaPitchedPtr pitched(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                                     size_t width, size_t height)
{
    if (type == CU_MEMORYTYPE_ARRAY) {
        return (struct cudaPitchedPtr){0};
    }
    void *pointer = type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : (void *)device;
    return (struct cudaPitchedPtr){.ptr = pointer, .pitch = pitch, .xsize = width, .ysize = height};
}

void copy_from_driver(const CUDA_MEMCPY3D *in, struct cudaMemcpy3DParms *out)
{
    *out = (struct cudaMemcpy3DParms){
        .srcArray = in->srcMemoryType == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)in->srcArray : NULL,
        .srcPos = {in->srcXInBytes, in->srcY, in->srcZ},
        .srcPtr = pitched(in->srcMemoryType, in->srcHost, in->srcDevice, in->srcPitch, in->WidthInBytes,
                          in->srcHeight),
        .dstArray = in->dstMemoryType == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)in->dstArray : NULL,
        .dstPos = {in->dstXInBytes, in->dstY, in->dstZ},
        .dstPtr = pitched(in->dstMemoryType, in->dstHost, in->dstDevice, in->dstPitch, in->WidthInBytes,
                          in->dstHeight),
        .extent = {in->WidthInBytes, in->Height, in->Depth},
        .kind = kind_of(in->srcMemoryType, in->dstMemoryType)};
}

cudaError_t copy_1d_to_driver(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                              CUDA_MEMCPY3D *out)
{
    struct cudaMemcpy3DParms parameters = {.srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                                           .dstPtr = {to, bytes, bytes, 1},
                                           .extent = {bytes, 1, 1},
                                           .kind = kind};
    return copy_to_driver(NULL, &parameters, out);
}

/* --- pitched and three-dimensional ---------------------------------------------------------------------- */

static cudaError_t copy_3d(const struct driver_api *driver, const struct cudaMemcpy3DParms *parameters,
                           bool async, cudaStream_t stream)
{
    CUDA_MEMCPY3D copy_parameters;
    cudaError_t error = copy_to_driver(driver, parameters, &copy_parameters);
    if (error != cudaSuccess) {
        return error;
    }
    return (cudaError_t)(async ? driver->cuMemcpy3DAsync(&copy_parameters, stream)
                               : driver->cuMemcpy3D(&copy_parameters));
}
RUNTIME_CALL_PTDS(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), copy_3d(driver, p, false, NULL))
RUNTIME_CALL_PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
                  copy_3d(driver, p, true, stream))

static cudaError_t copy_2d_to_driver(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     CUDA_MEMCPY2D *out)
{
    *out = (CUDA_MEMCPY2D){.srcHost = from,
                           .srcDevice = (CUdeviceptr)from,
                           .srcPitch = from_pitch,
                           .dstHost = to,
                           .dstDevice = (CUdeviceptr)to,
                           .dstPitch = to_pitch,
                           .WidthInBytes = width,
                           .Height = height};
    if (!memory_types(kind, &out->srcMemoryType, &out->dstMemoryType)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    return width > to_pitch || width > from_pitch ? cudaErrorInvalidPitchValue : cudaSuccess;
}

static cudaError_t copy_2d(const struct driver_api *driver, void *to, size_t to_pitch, const void *from,
                           size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D parameters;
    cudaError_t error = copy_2d_to_driver(to, to_pitch, from, from_pitch, width, height, kind, &parameters);
    if (error != cudaSuccess || width == 0 || height == 0) {
        return error;
    }
    return (cudaError_t)driver->cuMemcpy2DUnaligned(&parameters);
}
RUNTIME_CALL_PTDS(cudaMemcpy2D,
                  (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                   enum cudaMemcpyKind kind),
                  copy_2d(driver, dst, dpitch, src, spitch, width, height, kind))

static cudaError_t copy_2d_async(const struct driver_api *driver, void *to, size_t to_pitch, const void *from,
                                 size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    CUDA_MEMCPY2D parameters;
    cudaError_t error = copy_2d_to_driver(to, to_pitch, from, from_pitch, width, height, kind, &parameters);
    if (error != cudaSuccess || width == 0 || height == 0) {
        return error;
    }
    return (cudaError_t)driver->cuMemcpy2DAsync(&parameters, stream);
}
RUNTIME_CALL_PTSZ(cudaMemcpy2DAsync,
                  (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                   enum cudaMemcpyKind kind, cudaStream_t stream),
                  copy_2d_async(driver, dst, dpitch, src, spitch, width, height, kind, stream))
