/* Launches. */
#include "kernel.h"
#include "registry.h"

RUNTIME_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                              size_t shared_bytes, cudaStream_t stream);
RUNTIME_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                   void **arguments, size_t shared_bytes,
                                                   cudaStream_t stream);

static bool within(const struct driver_api *driver, CUdevice device, unsigned value, CUdevice_attribute limit)
{
    int maximum = 0;
    return value != 0 && driver->cuDeviceGetAttribute(&maximum, limit, device) == CUDA_SUCCESS &&
           value <= (unsigned)maximum;
}

static bool dimensions_valid(const struct driver_api *driver, dim3 grid, dim3 block)
{
    CUdevice device;
    unsigned long long threads = (unsigned long long)block.x * block.y * block.z;
    return runtime_device(driver, &device) == CUDA_SUCCESS && threads <= 0xFFFFFFFF &&
           within(driver, device, grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
           within(driver, device, grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
           within(driver, device, grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) &&
           within(driver, device, block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
           within(driver, device, block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
           within(driver, device, block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) &&
           within(driver, device, (unsigned)threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

/* The driver says "invalid value" for impossible dimensions; the runtime has an error of its own for them. */
static cudaError_t launch_result(const struct driver_api *driver, CUresult result, dim3 grid, dim3 block)
{
    if (result == CUDA_ERROR_INVALID_VALUE && !dimensions_valid(driver, grid, block)) {
        return cudaErrorInvalidConfiguration;
    }
    return (cudaError_t)result;
}

/* A kernel that could not be loaded reaches the launch as NULL; the reason is already the last error. */
static cudaError_t missing_kernel(void)
{
    return runtime_thread.last_error != cudaSuccess ? runtime_thread.last_error
                                                    : cudaErrorInvalidResourceHandle;
}

static cudaError_t launch_kernel(const struct driver_api *driver, cudaKernel_t kernel, dim3 grid, dim3 block,
                                 void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    if (kernel == NULL) {
        return missing_kernel();
    }
    CUresult result = driver->cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
                                             block.z, (unsigned)shared_bytes, stream, arguments, NULL);
    return launch_result(driver, result, grid, block);
}

static cudaError_t launch_function(const struct driver_api *driver, const void *function, dim3 grid,
                                   dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t error = registry_kernel(driver, function, &kernel);
    return error == cudaSuccess
               ? launch_kernel(driver, (cudaKernel_t)kernel, grid, block, arguments, shared_bytes, stream)
               : error;
}

static cudaError_t launch_cooperative(const struct driver_api *driver, const void *function, dim3 grid,
                                      dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t error = registry_kernel(driver, function, &kernel);
    if (error != cudaSuccess) {
        return error;
    }
    CUresult result =
        driver->cuLaunchCooperativeKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
                                          block.z, (unsigned)shared_bytes, stream, arguments);
    return launch_result(driver, result, grid, block);
}

static cudaError_t launch_extended(const struct driver_api *driver, const cudaLaunchConfig_t *config,
                                   const void *function, void **arguments)
{
    CUkernel kernel;
    if (config == NULL) {
        return cudaErrorInvalidValue;
    }
    cudaError_t error = registry_kernel(driver, function, &kernel);
    if (error != cudaSuccess) {
        return error;
    }
    CUlaunchConfig launch = kernel_launch_configuration(config);
    CUresult result = driver->cuLaunchKernelEx(&launch, (CUfunction)kernel, arguments, NULL);
    return launch_result(driver, result, config->gridDim, config->blockDim);
}

RUNTIME_CALL_PTSZ(__cudaLaunchKernel,
                  (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                   cudaStream_t stream),
                  launch_kernel(driver, kernel, grid, block, arguments, shared_bytes, stream))

RUNTIME_CALL_PTSZ(cudaLaunchKernel,
                  (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                   cudaStream_t stream),
                  launch_function(driver, func, gridDim, blockDim, args, sharedMem, stream))

RUNTIME_CALL_PTSZ(cudaLaunchCooperativeKernel,
                  (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                   cudaStream_t stream),
                  launch_cooperative(driver, func, gridDim, blockDim, args, sharedMem, stream))

RUNTIME_CALL_PTSZ(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *func, void **args),
                  launch_extended(driver, config, func, args))

RUNTIME_CALL_PTSZ(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *userData),
                  driver->cuLaunchHostFunc(stream, fn, userData))
