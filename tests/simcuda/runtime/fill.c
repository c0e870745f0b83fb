/* Fills. */
#include "runtime.h"

static cudaError_t fill(const struct driver_api *driver, void *to, int value, size_t bytes)
{
    return bytes == 0 ? cudaSuccess
                      : (cudaError_t)driver->cuMemsetD8((CUdeviceptr)to, (unsigned char)value, bytes);
}
RUNTIME_CALL_PTDS(cudaMemset, (void *devPtr, int value, size_t count), fill(driver, devPtr, value, count))

static cudaError_t fill_async(const struct driver_api *driver, void *to, int value, size_t bytes,
                              cudaStream_t stream)
{
    return bytes == 0
               ? cudaSuccess
               : (cudaError_t)driver->cuMemsetD8Async((CUdeviceptr)to, (unsigned char)value, bytes, stream);
}
RUNTIME_CALL_PTSZ(cudaMemsetAsync, (void *devPtr, int value, size_t count, cudaStream_t stream),
                  fill_async(driver, devPtr, value, count, stream))

struct fill_stream {
    bool is_async;
    cudaStream_t stream;
};
#define FILL_NOW        ((struct fill_stream){false, NULL})
#define FILL_ON(stream) ((struct fill_stream){true, stream})

static cudaError_t fill_2d(const struct driver_api *driver, void *to, size_t pitch, int value, size_t width,
                           size_t height, struct fill_stream on)
{
    if (width == 0 || height == 0) {
        return cudaSuccess;
    }
    return (cudaError_t)(on.is_async ? driver->cuMemsetD2D8Async((CUdeviceptr)to, pitch, (unsigned char)value,
                                                                 width, height, on.stream)
                                     : driver->cuMemsetD2D8((CUdeviceptr)to, pitch, (unsigned char)value,
                                                            width, height));
}
RUNTIME_CALL_PTDS(cudaMemset2D, (void *devPtr, size_t pitch, int value, size_t width, size_t height),
                  fill_2d(driver, devPtr, pitch, value, width, height, FILL_NOW))
RUNTIME_CALL_PTSZ(cudaMemset2DAsync,
                  (void *devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
                  fill_2d(driver, devPtr, pitch, value, width, height, FILL_ON(stream)))

static cudaError_t fill_3d(const struct driver_api *driver, struct cudaPitchedPtr to, int value,
                           struct cudaExtent extent, struct fill_stream on)
{
    cudaError_t error = cudaSuccess;
    for (size_t slice = 0; slice < extent.depth && error == cudaSuccess; slice++) {
        char *start = (char *)to.ptr + slice * to.pitch * to.ysize;
        error = fill_2d(driver, start, to.pitch, value, extent.width, extent.height, on);
    }
    return error;
}
RUNTIME_CALL_PTDS(cudaMemset3D, (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent),
                  fill_3d(driver, pitchedDevPtr, value, extent, FILL_NOW))
RUNTIME_CALL_PTSZ(cudaMemset3DAsync,
                  (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                   cudaStream_t stream),
                  fill_3d(driver, pitchedDevPtr, value, extent, FILL_ON(stream)))
