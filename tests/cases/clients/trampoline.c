/* As XLA does it: functions named like the driver's, which open libcuda and look the real one up when first
 * called. */
#include "client.h"

extern int trampoline_calls;
int trampoline_calls;

static void *real(const char *name)
{
    static void *library;
    library = library ? library : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return dlsym(library, name);
}

#define TRAMPOLINE(name, parameters, arguments)                                                              \
    CUresult name parameters                                                                                 \
    {                                                                                                        \
        static __typeof__(&name) function;                                                                   \
        function = function ? function : (__typeof__(&name))real(#name);                                     \
        return function arguments;                                                                           \
    }

TRAMPOLINE(cuInit, (unsigned flags), (flags))
TRAMPOLINE(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
TRAMPOLINE(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device), (context, flags, device))
TRAMPOLINE(cuCtxDestroy_v2, (CUcontext context), (context))
TRAMPOLINE(cuCtxSynchronize, (void), ())
TRAMPOLINE(cuMemAlloc_v2, (CUdeviceptr * memory, size_t bytes), (memory, bytes))
TRAMPOLINE(cuModuleLoad, (CUmodule * module, const char *path), (module, path))
TRAMPOLINE(cuModuleGetFunction, (CUfunction * function_out, CUmodule module, const char *name),
           (function_out, module, name))

CUresult cuLaunchKernel(CUfunction kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **values, void **extra)
{
    static __typeof__(&cuLaunchKernel) function;
    function = function ? function : (__typeof__(&cuLaunchKernel))real("cuLaunchKernel");
    trampoline_calls++;
    return function(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, values,
                    extra);
}
