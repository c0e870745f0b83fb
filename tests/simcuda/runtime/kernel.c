/* What a program may ask or set about a kernel: its handles, attributes, parameters and occupancy. */
#include "kernel.h"

#include "registry.h"

#include <string.h>

RUNTIME_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "attributes are passed through");

CUlaunchConfig kernel_launch_configuration(const cudaLaunchConfig_t *config)
{
    return (CUlaunchConfig){.gridDimX = config->gridDim.x,
                            .gridDimY = config->gridDim.y,
                            .gridDimZ = config->gridDim.z,
                            .blockDimX = config->blockDim.x,
                            .blockDimY = config->blockDim.y,
                            .blockDimZ = config->blockDim.z,
                            .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                            .hStream = config->stream,
                            .attrs = (CUlaunchAttribute *)config->attrs,
                            .numAttrs = config->numAttrs};
}

/* --- kernel handles ------------------------------------------------------------------------------------- */

static cudaError_t get_kernel(const struct driver_api *driver, cudaKernel_t *out, const void *function)
{
    return out == NULL ? cudaErrorInvalidValue : registry_kernel(driver, function, (CUkernel *)out);
}
RUNTIME_CALL(__cudaGetKernel, (cudaKernel_t * kernel, const void *function),
             get_kernel(driver, kernel, function))
RUNTIME_CALL(cudaGetKernel, (cudaKernel_t * kernelPtr, const void *entryFuncAddr),
             get_kernel(driver, kernelPtr, entryFuncAddr))

static cudaError_t get_function(const struct driver_api *driver, cudaFunction_t *out, const void *symbol)
{
    CUkernel kernel;
    CUfunction function;
    cudaError_t error = registry_kernel(driver, symbol, &kernel);
    if (error == cudaSuccess) {
        error = (cudaError_t)driver->cuKernelGetFunction(&function, kernel);
    }
    if (error == cudaSuccess) {
        registry_add_handle(function, registry_host_function(kernel), kernel, NULL);
        *out = function;
    }
    return error;
}
RUNTIME_CALL(cudaGetFuncBySymbol, (cudaFunction_t * functionPtr, const void *symbolPtr),
             get_function(driver, functionPtr, symbolPtr))

/* --- attributes ----------------------------------------------------------------------------------------- */

/* In a function of `driver` and `function`: finds `kernel` and `device` for `call`, which may use them. */
#define WITH_KERNEL(call)                                                                                    \
    CUkernel kernel;                                                                                         \
    CUdevice device;                                                                                         \
    cudaError_t error = registry_kernel(driver, function, &kernel);                                          \
    if (error == cudaSuccess) {                                                                              \
        error = (cudaError_t)runtime_device(driver, &device);                                                \
    }                                                                                                        \
    return error == cudaSuccess ? (cudaError_t)(call) : error

static CUresult fill_attributes(const struct driver_api *driver, struct cudaFuncAttributes *out,
                                CUkernel kernel, CUdevice device)
{
    memset(out, 0, sizeof(*out));
#define FUNCTION_ATTRIBUTE(field, attribute, is_required)                                                    \
    {                                                                                                        \
        int value = 0;                                                                                       \
        CUresult result = driver->cuKernelGetAttribute(&value, attribute, kernel, device);                   \
        if (result != CUDA_SUCCESS && (is_required)) {                                                       \
            return result;                                                                                   \
        }                                                                                                    \
        out->field = (__typeof__(out->field))value;                                                          \
    }
#include "function_attributes.def"
#undef FUNCTION_ATTRIBUTE
    return CUDA_SUCCESS;
}

static cudaError_t get_attributes(const struct driver_api *driver, struct cudaFuncAttributes *out,
                                  const void *function)
{
    if (out == NULL) {
        return cudaErrorInvalidValue;
    }
    WITH_KERNEL(fill_attributes(driver, out, kernel, device));
}
RUNTIME_CALL(cudaFuncGetAttributes, (struct cudaFuncAttributes * attr, const void *func),
             get_attributes(driver, attr, func))

static cudaError_t set_attribute(const struct driver_api *driver, const void *function,
                                 enum cudaFuncAttribute attribute, int value)
{
    WITH_KERNEL(driver->cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel, device));
}
RUNTIME_CALL(cudaFuncSetAttribute, (const void *func, enum cudaFuncAttribute attr, int value),
             set_attribute(driver, func, attr, value))
RUNTIME_CALL(cudaKernelSetAttributeForDevice,
             (cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device),
             driver->cuKernelSetAttribute((CUfunction_attribute)attr, value, (CUkernel)kernel, device))

static cudaError_t set_cache_config(const struct driver_api *driver, const void *function,
                                    enum cudaFuncCache config)
{
    WITH_KERNEL(driver->cuKernelSetCacheConfig(kernel, (CUfunc_cache)config, device));
}
RUNTIME_CALL(cudaFuncSetCacheConfig, (const void *func, enum cudaFuncCache cacheConfig),
             set_cache_config(driver, func, cacheConfig))

static cudaError_t set_shared_config(const struct driver_api *driver, const void *function)
{
    CUkernel kernel;
    return registry_kernel(driver, function, &kernel); /* no device of today has a choice of bank widths */
}
RUNTIME_CALL(cudaFuncSetSharedMemConfig, (const void *func, enum cudaSharedMemConfig config),
             ((void)config, set_shared_config(driver, func)))

static cudaError_t get_name(const struct driver_api *driver, const char **name, const void *function)
{
    CUkernel kernel;
    cudaError_t error = registry_kernel(driver, function, &kernel);
    return error == cudaSuccess ? (cudaError_t)driver->cuKernelGetName(name, kernel) : error;
}
RUNTIME_CALL(cudaFuncGetName, (const char **name, const void *func), get_name(driver, name, func))

static cudaError_t get_parameter(const struct driver_api *driver, const void *function, size_t index,
                                 size_t *offset, size_t *bytes)
{
    CUkernel kernel;
    cudaError_t error = registry_kernel(driver, function, &kernel);
    return error == cudaSuccess ? (cudaError_t)driver->cuKernelGetParamInfo(kernel, index, offset, bytes)
                                : error;
}
RUNTIME_CALL(cudaFuncGetParamInfo,
             (const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
             get_parameter(driver, func, paramIndex, paramOffset, paramSize))

/* --- occupancy ------------------------------------------------------------------------------------------ */

static cudaError_t blocks_per_sm(const struct driver_api *driver, int *blocks, const void *function,
                                 int threads, size_t shared_bytes, unsigned flags)
{
    WITH_KERNEL(((void)device, driver->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                                   blocks, (CUfunction)kernel, threads, shared_bytes, flags)));
}
RUNTIME_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
             (int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize),
             blocks_per_sm(driver, numBlocks, func, blockSize, dynamicSMemSize, 0))
RUNTIME_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
             (int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize, unsigned flags),
             blocks_per_sm(driver, numBlocks, func, blockSize, dynamicSMemSize, flags))

static cudaError_t available_shared(const struct driver_api *driver, size_t *bytes, const void *function,
                                    int blocks, int threads)
{
    WITH_KERNEL(((void)device, driver->cuOccupancyAvailableDynamicSMemPerBlock(bytes, (CUfunction)kernel,
                                                                               blocks, threads)));
}
RUNTIME_CALL(cudaOccupancyAvailableDynamicSMemPerBlock,
             (size_t * dynamicSmemSize, const void *func, int numBlocks, int blockSize),
             available_shared(driver, dynamicSmemSize, func, numBlocks, blockSize))

typedef CUresult cluster_query(int *value, CUfunction function, const CUlaunchConfig *config);

static cudaError_t ask_about_clusters(const struct driver_api *driver, cluster_query *query, int *value,
                                      const void *function, const cudaLaunchConfig_t *config)
{
    if (config == NULL) {
        return cudaErrorInvalidValue;
    }
    CUlaunchConfig launch = kernel_launch_configuration(config);
    WITH_KERNEL(((void)device, query(value, (CUfunction)kernel, &launch)));
}
RUNTIME_CALL(cudaOccupancyMaxPotentialClusterSize,
             (int *clusterSize, const void *func, const cudaLaunchConfig_t *launchConfig),
             ask_about_clusters(driver, driver->cuOccupancyMaxPotentialClusterSize, clusterSize, func,
                                launchConfig))
RUNTIME_CALL(cudaOccupancyMaxActiveClusters,
             (int *numClusters, const void *func, const cudaLaunchConfig_t *launchConfig),
             ask_about_clusters(driver, driver->cuOccupancyMaxActiveClusters, numClusters, func,
                                launchConfig))
