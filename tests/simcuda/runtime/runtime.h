/* What the files of the runtime share: entering a call, the thread's state, and the macros that define an
 * exported function in its stream flavours. */
#ifndef SIMCUDA_RUNTIME_RUNTIME_H
#define SIMCUDA_RUNTIME_RUNTIME_H

#include "driver.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>

#define RUNTIME_VERSION      13000
#define RUNTIME_CALLS_NESTED 32 /* <<<...>>> whose arguments contain <<<...>>> */

struct launch_configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

struct runtime_thread {
    cudaError_t last_error;
    int device; /* of cudaSetDevice */
    unsigned resets_seen;
    unsigned configurations_count;
    struct launch_configuration configurations[RUNTIME_CALLS_NESTED];
};
extern _Thread_local struct runtime_thread runtime_thread;

typedef cudaError_t runtime_entry(enum stream_flavour flavour, const struct driver_api **driver);

/* The driver is loaded and initialised; any context or none. */
runtime_entry runtime_enter_driver;
/* ... and the thread has a current context, if need be the primary one of its device. */
runtime_entry runtime_enter;

/* Remembers an error as the thread's last one and hands it on. */
cudaError_t runtime_finish(cudaError_t error);

/* The device of the current context, else of cudaSetDevice. */
CUresult runtime_device(const struct driver_api *driver, CUdevice *device);
/* The device's primary context, retained until cudaDeviceReset. */
CUresult runtime_primary_context(const struct driver_api *driver, int ordinal, CUcontext *context);

/* --- defining exported functions ------------------------------------------------------------------------ */

#define RUNTIME_EXPORT __attribute__((visibility("default")))

#define RUNTIME_BODY(enter, flavour, expression)                                                             \
    {                                                                                                        \
        const struct driver_api *driver;                                                                     \
        cudaError_t error = enter(flavour, &driver);                                                         \
        return runtime_finish(error == cudaSuccess ? (cudaError_t)(expression) : error);                     \
    }

/* An exported function: `expression` may use its parameters and `driver`, and gives a cudaError_t or, their
 * numbers being the same, a CUresult. */
#define RUNTIME_CALL(name, parameters, expression)                                                           \
    RUNTIME_EXPORT cudaError_t name parameters RUNTIME_BODY(runtime_enter, STREAM_LEGACY, expression)

/* The same for a function that works without a current context. */
#define RUNTIME_QUERY(name, parameters, expression)                                                          \
    RUNTIME_EXPORT cudaError_t name parameters RUNTIME_BODY(runtime_enter_driver, STREAM_LEGACY, expression)

#define RUNTIME_CALL_FLAVOURS(name, per_thread_name, parameters, expression)                                 \
    RUNTIME_CALL(name, parameters, expression)                                                               \
    RUNTIME_EXPORT cudaError_t per_thread_name parameters;                                                   \
    RUNTIME_EXPORT cudaError_t per_thread_name parameters RUNTIME_BODY(runtime_enter, STREAM_PER_THREAD,     \
                                                                       expression)

/* In both stream flavours: asynchronous functions take _ptsz, synchronous ones _ptds. */
#define RUNTIME_CALL_PTSZ(name, parameters, expression)                                                      \
    RUNTIME_CALL_FLAVOURS(name, name##_ptsz, parameters, expression)
#define RUNTIME_CALL_PTDS(name, parameters, expression)                                                      \
    RUNTIME_CALL_FLAVOURS(name, name##_ptds, parameters, expression)

#endif
