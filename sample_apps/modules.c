/* A module is loaded, used, unloaded and loaded again, so that the driver may hand out the same handles for
 * other kernels. The driver is opened by dlopen and its functions are found by dlsym, as many programs do. */
#include <dlfcn.h>

#include "driver_sample.h"

#define DRIVER_FUNCTIONS(F)                                                                                  \
    F(cuInit, "cuInit", CUresult, (unsigned))                                                                \
    F(cuDeviceGet, "cuDeviceGet", CUresult, (CUdevice *, int))                                               \
    F(primary_retain, "cuDevicePrimaryCtxRetain", CUresult, (CUcontext *, CUdevice))                         \
    F(primary_release, "cuDevicePrimaryCtxRelease_v2", CUresult, (CUdevice))                                 \
    F(set_current, "cuCtxSetCurrent", CUresult, (CUcontext))                                                 \
    F(synchronize, "cuCtxSynchronize", CUresult, (void))                                                     \
    F(allocate, "cuMemAlloc_v2", CUresult, (CUdeviceptr *, size_t))                                          \
    F(release, "cuMemFree_v2", CUresult, (CUdeviceptr))                                                      \
    F(module_load, "cuModuleLoad", CUresult, (CUmodule *, const char *))                                     \
    F(module_unload, "cuModuleUnload", CUresult, (CUmodule))                                                 \
    F(get_function, "cuModuleGetFunction", CUresult, (CUfunction *, CUmodule, const char *))                 \
    F(launch_kernel, "cuLaunchKernel", CUresult,                                                             \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,  \
       void **))

static struct {
#define POINTER(name, symbol, result, parameters) result(*name) parameters;
    DRIVER_FUNCTIONS(POINTER)
#undef POINTER
} driver;

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define FIND(name, symbol, result, parameters)                                                               \
    if (!(*(void **)&driver.name = dlsym(library, symbol))) {                                                \
        fprintf(stderr, "%s\n", dlerror());                                                                  \
        exit(1);                                                                                             \
    }
    DRIVER_FUNCTIONS(FIND)
#undef FIND
}

/* Loads `file`, launches `kernel` `launches` times with a block of 64 threads, and unloads the file again. */
static void use_module(const char *file, const char *kernel, unsigned blocks, unsigned shared_bytes,
                       int launches)
{
    const unsigned threads = 64;
    CUmodule module;
    CUfunction function;
    CUdeviceptr x;
    float number = 2.0f;
    void *arguments[] = {&x, &number};

    CHECK(driver.module_load(&module, beside_program(file)));
    CHECK(driver.get_function(&function, module, kernel));
    CHECK(driver.allocate(&x, blocks * threads * sizeof(float)));
    for (int i = 0; i < launches; i++) {
        CHECK(
            driver.launch_kernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, NULL, arguments, NULL));
    }
    CHECK(driver.synchronize());
    CHECK(driver.release(x));
    CHECK(driver.module_unload(module));
    print_launch(kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, (dim3){1, 1, 1}, shared_bytes, launches,
                 0);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    open_driver();
    CHECK(driver.cuInit(0));
    CHECK(driver.cuDeviceGet(&device, 0));
    CHECK(driver.primary_retain(&context, device));
    CHECK(driver.set_current(context));

    use_module("kernels.fatbin", "scale", 10, 0, 3);
    use_module("kernels.fatbin", "offset", 10, 256, 4);
    use_module("kernels.fatbin", "scale", 10, 0, 5);
    use_module("kernels.ptx", "offset", 20, 256, 6);

    CHECK(driver.primary_release(device));
    return 0;
}
