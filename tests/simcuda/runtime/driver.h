/* The driver as the runtime sees it: one table of function pointers for each default-stream flavour, filled
 * by name through cuGetProcAddress. Nothing of the driver is linked. */
#ifndef SIMCUDA_RUNTIME_DRIVER_H
#define SIMCUDA_RUNTIME_DRIVER_H

#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

/* Asked for at the version of their first form; the typedefs only know the second, of equal signature. */
typedef PFN_cuDevicePrimaryCtxRelease_v11000 PFN_cuDevicePrimaryCtxRelease_v7000;
typedef PFN_cuDevicePrimaryCtxReset_v11000 PFN_cuDevicePrimaryCtxReset_v7000;

struct driver_api {
#define DRIVER_FUNCTION(name, version)                            PFN_##name##_v##version name;
#define DRIVER_STREAM_FUNCTION(name, version, per_thread_version) PFN_##name##_v##version name;
#include "driver.def"
#undef DRIVER_FUNCTION
#undef DRIVER_STREAM_FUNCTION
    PFN_cuGetProcAddress_v12000 get_proc_address;
};

enum stream_flavour { STREAM_LEGACY, STREAM_PER_THREAD };

/* Loads libcuda.so.1, fills both tables and calls cuInit, once; afterwards the first result again. A
 * function that the driver lacks answers CUDA_ERROR_NOT_SUPPORTED. */
CUresult driver_start(void);

/* Valid after driver_start succeeded. */
extern struct driver_api driver_tables[2];

#endif
