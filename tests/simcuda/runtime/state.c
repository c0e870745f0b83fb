/* Entering the runtime: the driver's start, each thread's device and last error, and the primary contexts
 * that are retained when a thread first needs one. */
#include "runtime.h"

#include "last_error.h"

#include <pthread.h>
#include <stdatomic.h>

#define DEVICES_LIMIT 64

_Thread_local struct runtime_thread runtime_thread;

static struct {
    CUcontext context;
    bool retained;
} primary[DEVICES_LIMIT];
static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint resets;

cudaError_t runtime_finish(cudaError_t error)
{
    /* Not an error by the programming guide, so not remembered. */
    if (error != cudaSuccess && error != cudaErrorNotReady) {
        runtime_thread.last_error = error;
    }
    return error;
}

int runtime_refuse(void)
{
    return runtime_finish(cudaErrorNotSupported);
}

cudaError_t runtime_enter_driver(enum stream_flavour flavour, const struct driver_api **driver)
{
    *driver = &driver_tables[flavour];
    return (cudaError_t)driver_start();
}

CUresult runtime_primary_context(const struct driver_api *driver, int ordinal, CUcontext *context)
{
    CUdevice device;
    CUresult result = driver->cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS || ordinal >= DEVICES_LIMIT) {
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&primary_lock);
    if (!primary[ordinal].retained) {
        result = driver->cuDevicePrimaryCtxRetain(&primary[ordinal].context, device);
        primary[ordinal].retained = result == CUDA_SUCCESS;
    }
    *context = primary[ordinal].context;
    pthread_mutex_unlock(&primary_lock);
    return result;
}

static CUresult primary_make_current(const struct driver_api *driver, int ordinal)
{
    CUcontext context;
    CUresult result = runtime_primary_context(driver, ordinal, &context);
    return result == CUDA_SUCCESS ? driver->cuCtxSetCurrent(context) : result;
}

/* The device whose primary context this is, or -1. */
static int primary_owner(CUcontext context)
{
    int owner = -1;
    pthread_mutex_lock(&primary_lock);
    for (int i = 0; i < DEVICES_LIMIT && owner < 0; i++) {
        if (primary[i].context == context) {
            owner = i;
        }
    }
    pthread_mutex_unlock(&primary_lock);
    return owner;
}

cudaError_t runtime_enter(enum stream_flavour flavour, const struct driver_api **driver)
{
    CUcontext current = NULL;
    CUresult result = driver_start();
    *driver = &driver_tables[flavour];
    if (result == CUDA_SUCCESS) {
        result = (*driver)->cuCtxGetCurrent(&current);
    }
    unsigned resets_now = atomic_load_explicit(&resets, memory_order_acquire);
    if (result != CUDA_SUCCESS || (current != NULL && runtime_thread.resets_seen == resets_now)) {
        return (cudaError_t)result;
    }
    runtime_thread.resets_seen = resets_now;
    int owner = current == NULL ? runtime_thread.device : primary_owner(current);
    return owner < 0 ? cudaSuccess : (cudaError_t)primary_make_current(*driver, owner);
}

CUresult runtime_device(const struct driver_api *driver, CUdevice *device)
{
    CUcontext current = NULL;
    CUresult result = driver->cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    return current != NULL ? driver->cuCtxGetDevice(device)
                           : driver->cuDeviceGet(device, runtime_thread.device);
}

static CUresult set_device(const struct driver_api *driver, int device)
{
    CUresult result = primary_make_current(driver, device);
    if (result == CUDA_SUCCESS) {
        runtime_thread.device = device;
    }
    return result;
}
RUNTIME_QUERY(cudaSetDevice, (int device), set_device(driver, device))

static CUresult init_device(const struct driver_api *driver, int device, unsigned flags, unsigned valid)
{
    CUcontext previous = NULL;
    CUresult result = driver->cuCtxGetCurrent(&previous);
    if (result == CUDA_SUCCESS && (valid & cudaInitDeviceFlagsAreValid) != 0) {
        result = driver->cuDevicePrimaryCtxSetFlags(device, flags);
    }
    if (result == CUDA_SUCCESS) {
        result = primary_make_current(driver, device);
    }
    return result == CUDA_SUCCESS ? driver->cuCtxSetCurrent(previous) : result;
}
RUNTIME_QUERY(cudaInitDevice, (int device, unsigned deviceFlags, unsigned flags),
              init_device(driver, device, deviceFlags, flags))

static CUresult device_reset(const struct driver_api *driver)
{
    CUdevice device;
    CUresult result = runtime_device(driver, &device);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&primary_lock);
    result = driver->cuDevicePrimaryCtxReset(device);
    if (device < DEVICES_LIMIT) {
        primary[device].retained = false;
    }
    pthread_mutex_unlock(&primary_lock);
    atomic_fetch_add_explicit(&resets, 1, memory_order_release);
    return result;
}
RUNTIME_QUERY(cudaDeviceReset, (void), device_reset(driver))

/* Both start the driver, so that a program that only asks for errors learns that there is none. */
RUNTIME_EXPORT cudaError_t cudaGetLastError(void)
{
    cudaError_t error = (cudaError_t)driver_start();
    if (error == cudaSuccess) {
        error = runtime_thread.last_error;
        runtime_thread.last_error = cudaSuccess;
    }
    return error;
}

RUNTIME_EXPORT cudaError_t cudaPeekAtLastError(void)
{
    cudaError_t error = (cudaError_t)driver_start();
    return error == cudaSuccess ? runtime_thread.last_error : error;
}
