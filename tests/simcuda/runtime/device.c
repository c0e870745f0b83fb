/* Devices: how many, their properties and attributes, limits and peers. */
#include "runtime.h"

#include <cuda_profiler_api.h>
#include <limits.h>
#include <string.h>

/* --- finding devices ------------------------------------------------------------------------------------ */

RUNTIME_QUERY(cudaGetDeviceCount, (int *count),
              count == NULL ? CUDA_ERROR_INVALID_VALUE : driver->cuDeviceGetCount(count))

RUNTIME_QUERY(cudaGetDevice, (int *device),
              device == NULL ? CUDA_ERROR_INVALID_VALUE : runtime_device(driver, device))

RUNTIME_QUERY(cudaDeviceGetByPCIBusId, (int *device, const char *pciBusId),
              driver->cuDeviceGetByPCIBusId(device, pciBusId))

RUNTIME_QUERY(cudaDeviceGetPCIBusId, (char *pciBusId, int len, int device),
              driver->cuDeviceGetPCIBusId(pciBusId, len, device))

/* The first device with the most of what is asked for; the compute capability is what programs ask for. */
static CUresult choose_device(const struct driver_api *driver, int *chosen,
                              const struct cudaDeviceProp *wanted)
{
    int count = 0, best = INT_MIN;
    CUresult result = driver->cuDeviceGetCount(&count);
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++) {
        int major = 0, minor = 0;
        result = driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i);
        if (result == CUDA_SUCCESS) {
            result = driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i);
        }
        bool enough = major > wanted->major || (major == wanted->major && minor >= wanted->minor);
        int score = enough ? 1 : 0;
        if (score > best) {
            best = score;
            *chosen = i;
        }
    }
    return result;
}
RUNTIME_QUERY(cudaChooseDevice, (int *device, const struct cudaDeviceProp *prop),
              device == NULL || prop == NULL ? CUDA_ERROR_INVALID_VALUE : choose_device(driver, device, prop))

/* --- properties ----------------------------------------------------------------------------------------- */

/* A driver older than an attribute refuses it, and the field stays 0. */
static void fill_attributes(const struct driver_api *driver, struct cudaDeviceProp *out, CUdevice device)
{
    int value;
#define DEVICE_PROPERTY(field, attribute)                                                                    \
    if (driver->cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS) {                           \
        out->field = (__typeof__(out->field))value;                                                          \
    }
#include "device_properties.def"
#undef DEVICE_PROPERTY
}

static CUresult fill_properties(const struct driver_api *driver, struct cudaDeviceProp *out, int ordinal)
{
    CUdevice device;
    memset(out, 0, sizeof(*out));
    CUresult result = driver->cuDeviceGet(&device, ordinal);
    if (result == CUDA_SUCCESS) {
        result = driver->cuDeviceGetName(out->name, sizeof(out->name), device);
    }
    if (result == CUDA_SUCCESS) {
        result = driver->cuDeviceTotalMem(&out->totalGlobalMem, device);
    }
    if (result == CUDA_SUCCESS) {
        result = driver->cuDeviceGetUuid((CUuuid *)&out->uuid, device);
    }
    if (result == CUDA_SUCCESS) {
        fill_attributes(driver, out, device);
    }
    return result;
}
RUNTIME_QUERY(cudaGetDeviceProperties, (struct cudaDeviceProp * prop, int device),
              prop == NULL ? CUDA_ERROR_INVALID_VALUE : fill_properties(driver, prop, device))

RUNTIME_QUERY(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attr, int device),
              driver->cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device))

RUNTIME_QUERY(cudaDeviceGetP2PAttribute,
              (int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice),
              driver->cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice))

RUNTIME_QUERY(cudaDeviceGetHostAtomicCapabilities,
              (unsigned *capabilities, const enum cudaAtomicOperation *operations, unsigned count,
               int device),
              driver->cuDeviceGetHostAtomicCapabilities(capabilities, (const CUatomicOperation *)operations,
                                                        count, device))

RUNTIME_QUERY(cudaDeviceGetP2PAtomicCapabilities,
              (unsigned *capabilities, const enum cudaAtomicOperation *operations, unsigned count,
               int srcDevice, int dstDevice),
              driver->cuDeviceGetP2PAtomicCapabilities(capabilities, (const CUatomicOperation *)operations,
                                                       count, srcDevice, dstDevice))

/* --- versions ------------------------------------------------------------------------------------------- */

/* 0 and no error without a driver: the one call by which programs ask whether there is one. */
RUNTIME_EXPORT cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL) {
        return runtime_finish(cudaErrorInvalidValue);
    }
    *driverVersion = 0;
    driver_start();
    PFN_cuDriverGetVersion_v2020 get_version = driver_tables[STREAM_LEGACY].cuDriverGetVersion;
    return get_version == NULL ? cudaSuccess : runtime_finish((cudaError_t)get_version(driverVersion));
}

RUNTIME_EXPORT cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (runtimeVersion == NULL) {
        return runtime_finish(cudaErrorInvalidValue);
    }
    *runtimeVersion = RUNTIME_VERSION;
    return cudaSuccess;
}

/* --- settings ------------------------------------------------------------------------------------------- */

RUNTIME_CALL(cudaDeviceSynchronize, (void), driver->cuCtxSynchronize())

RUNTIME_CALL(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value),
             driver->cuCtxSetLimit((CUlimit)limit, value))
RUNTIME_CALL(cudaDeviceGetLimit, (size_t * pValue, enum cudaLimit limit),
             driver->cuCtxGetLimit(pValue, (CUlimit)limit))

RUNTIME_CALL(cudaDeviceGetCacheConfig, (enum cudaFuncCache * pCacheConfig),
             driver->cuCtxGetCacheConfig((CUfunc_cache *)pCacheConfig))
RUNTIME_CALL(cudaDeviceSetCacheConfig, (enum cudaFuncCache cacheConfig),
             driver->cuCtxSetCacheConfig((CUfunc_cache)cacheConfig))

RUNTIME_CALL(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig * pConfig),
             driver->cuCtxGetSharedMemConfig((CUsharedconfig *)pConfig))
RUNTIME_CALL(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig config),
             driver->cuCtxSetSharedMemConfig((CUsharedconfig)config))

RUNTIME_CALL(cudaDeviceGetStreamPriorityRange, (int *leastPriority, int *greatestPriority),
             driver->cuCtxGetStreamPriorityRange(leastPriority, greatestPriority))

RUNTIME_CALL(cudaCtxResetPersistingL2Cache, (void), driver->cuCtxResetPersistingL2Cache())

static CUresult set_flags(const struct driver_api *driver, unsigned flags)
{
    CUdevice device;
    CUresult result = runtime_device(driver, &device);
    return result == CUDA_SUCCESS ? driver->cuDevicePrimaryCtxSetFlags(device, flags) : result;
}
RUNTIME_QUERY(cudaSetDeviceFlags, (unsigned flags), set_flags(driver, flags))

static CUresult get_flags(const struct driver_api *driver, unsigned *flags)
{
    CUdevice device;
    int active;
    CUresult result = runtime_device(driver, &device);
    return result == CUDA_SUCCESS ? driver->cuDevicePrimaryCtxGetState(device, flags, &active) : result;
}
RUNTIME_QUERY(cudaGetDeviceFlags, (unsigned *flags), get_flags(driver, flags))

/* The order of preference among devices; every device is usable here. */
RUNTIME_QUERY(cudaSetValidDevices, (int *device_arr, int len),
              ((void)driver, device_arr == NULL && len > 0 ? cudaErrorInvalidValue : cudaSuccess))

RUNTIME_CALL(cudaDeviceFlushGPUDirectRDMAWrites,
             (enum cudaFlushGPUDirectRDMAWritesTarget target, enum cudaFlushGPUDirectRDMAWritesScope scope),
             driver->cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
                                                (CUflushGPUDirectRDMAWritesScope)scope))

RUNTIME_CALL(cudaProfilerStart, (void), driver->cuProfilerStart())
RUNTIME_CALL(cudaProfilerStop, (void), driver->cuProfilerStop())

/* --- peers ---------------------------------------------------------------------------------------------- */

RUNTIME_QUERY(cudaDeviceCanAccessPeer, (int *canAccessPeer, int device, int peerDevice),
              driver->cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice))

/* The driver speaks of contexts where the runtime speaks of devices. */
static CUresult enable_peer(const struct driver_api *driver, int peer, unsigned flags)
{
    CUcontext context;
    CUresult result = runtime_primary_context(driver, peer, &context);
    return result == CUDA_SUCCESS ? driver->cuCtxEnablePeerAccess(context, flags) : result;
}
RUNTIME_CALL(cudaDeviceEnablePeerAccess, (int peerDevice, unsigned flags),
             enable_peer(driver, peerDevice, flags))

static CUresult disable_peer(const struct driver_api *driver, int peer)
{
    CUcontext context;
    CUresult result = runtime_primary_context(driver, peer, &context);
    return result == CUDA_SUCCESS ? driver->cuCtxDisablePeerAccess(context) : result;
}
RUNTIME_CALL(cudaDeviceDisablePeerAccess, (int peerDevice), disable_peer(driver, peerDevice))
