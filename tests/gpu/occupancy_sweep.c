/* Asks the driver how many blocks fit on an SM over a sweep of block sizes and dynamic shared memory, for
 * each kernel of a fat binary. CSV on stdout, as `warpwatch model occupancy --batch` takes it, with the
 * driver's answer behind. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *driver;

static void *find(const char *name)
{
    void *function = dlsym(driver, name);
    if (!function) {
        fprintf(stderr, "occupancy_sweep: the driver has no %s\n", name);
        exit(77);
    }
    return function;
}

static void check(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "occupancy_sweep: %s answered %d\n", what, (int)result);
        exit(1);
    }
}

#define CALL(name, arguments, ...) check(((CUresult(*) arguments)find(name))(__VA_ARGS__), name)

static int device_attribute(CUdevice_attribute attribute)
{
    int value;
    CALL("cuDeviceGetAttribute", (int *, CUdevice_attribute, CUdevice), &value, attribute, 0);
    return value;
}

static int function_attribute(CUfunction_attribute attribute, CUfunction function)
{
    int value;
    CALL("cuFuncGetAttribute", (int *, CUfunction_attribute, CUfunction), &value, attribute, function);
    return value;
}

static void sweep(CUfunction function, int capability, int optin_bytes)
{
    int registers = function_attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    int fixed = function_attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    int most = function_attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    CALL("cuFuncSetAttribute", (CUfunction, CUfunction_attribute, int), function,
         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, optin_bytes - fixed);
    for (int threads = 32; threads <= most; threads += 32) {
        for (int dynamic = 0; fixed + dynamic <= optin_bytes;
             dynamic += 3328) { /* 26 allocation units of 128 B */
            int blocks;
            CALL("cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *, CUfunction, int, size_t), &blocks,
                 function, threads, (size_t)dynamic);
            printf("%d.%d,%d,%d,%d,%d,%d\n", capability / 10, capability % 10, threads, registers, fixed,
                   dynamic, blocks);
        }
    }
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver || argc < 3) {
        fprintf(stderr, "usage: occupancy_sweep FATBIN KERNEL…   (and a driver)\n");
        return driver ? 2 : 77;
    }
    CALL("cuInit", (unsigned), 0);
    CALL("cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice), &context, 0);
    CALL("cuCtxSetCurrent", (CUcontext), context);
    CALL("cuModuleLoad", (CUmodule *, const char *), &module, argv[1]);
    int capability = 10 * device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                     device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    int optin_bytes = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    puts("cc,threads,registers,static_shared,dynamic_shared,driver_blocks");
    for (int i = 2; i < argc; i++) {
        CUfunction function;
        CALL("cuModuleGetFunction", (CUfunction *, CUmodule, const char *), &function, module, argv[i]);
        sweep(function, capability, optin_bytes);
    }
    return 0;
}
