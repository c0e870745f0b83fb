/* Calls that are not launches, each in a loop after a first launch: prints its name, nanoseconds of CPU time
 * a call (the best of many batches) and the library that the called function is in. other_calls
 * KERNELS.fatbin */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 200, CALLS = 2000 };

typedef CUresult get_current(CUcontext *context);
typedef CUresult copy_to_device(CUdeviceptr target, const void *source, size_t bytes);
typedef CUresult synchronize(CUstream stream);
typedef CUresult get_proc_address(const char *name, void **function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status);

static void *driver, *runtime;
static CUdeviceptr memory;
static get_current *looked_up, *proc_address;
static copy_to_device *copy;
static synchronize *wait_for;
static get_proc_address *find;
static int (*runtime_get_device)(int *device);

static void call_linked(void)
{
    CUcontext context;
    cuCtxGetCurrent(&context);
}

static void call_looked_up(void)
{
    CUcontext context;
    looked_up(&context);
}

static void call_proc_address(void)
{
    CUcontext context;
    proc_address(&context);
}

static void call_copy(void)
{
    unsigned value = 1;
    copy(memory, &value, sizeof value);
}

static void call_synchronize(void)
{
    wait_for(NULL);
}

static void call_runtime(void)
{
    int device;
    runtime_get_device(&device);
}

static void call_find(void)
{
    void *function;
    find("cuCtxGetCurrent", &function, 13000, 0, NULL);
}

static void call_dlsym_other(void)
{
    (void)dlsym(runtime, "cudaGetDevice");
}

static void call_dlsym_driver(void)
{
    (void)dlsym(driver, "cuCtxGetCurrent");
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double best_ns(void (*call)(void))
{
    double best = 1e9;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now_ns();
        for (int i = 0; i < CALLS; i++) {
            call();
        }
        double ns = (now_ns() - start) / CALLS;
        best = ns < best ? ns : best;
    }
    return best;
}

static const char *library_of(const void *function)
{
    Dl_info info;
    const char *slash = dladdr(function, &info) ? strrchr(info.dli_fname, '/') : NULL;
    return slash ? slash + 1 : "?";
}

/* From here on warpwatch is at work, if it is there. */
static bool launch_once(const char *path)
{
    CUcontext context;
    CUmodule module;
    CUfunction scale;
    float factor = 2;
    void *values[] = {&memory, &factor};
    return cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
           cuCtxSetCurrent(context) == CUDA_SUCCESS && cuMemAlloc_v2(&memory, 4096) == CUDA_SUCCESS &&
           cuModuleLoad(&module, path) == CUDA_SUCCESS &&
           cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS &&
           cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, NULL, values, NULL) == CUDA_SUCCESS;
}

static bool find_functions(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (driver == NULL || runtime == NULL) {
        return false;
    }
    looked_up = (get_current *)dlsym(driver, "cuCtxGetCurrent");
    copy = (copy_to_device *)dlsym(driver, "cuMemcpyHtoD_v2");
    wait_for = (synchronize *)dlsym(driver, "cuStreamSynchronize");
    find = (get_proc_address *)dlsym(driver, "cuGetProcAddress_v2");
    runtime_get_device = (int (*)(int *))dlsym(runtime, "cudaGetDevice");
    void *function = NULL;
    find("cuCtxGetCurrent", &function, 13000, 0, NULL);
    proc_address = (get_current *)function;
    return looked_up && copy && wait_for && proc_address && runtime_get_device;
}

int main(int count, char **arguments)
{
    if (count < 2 || !find_functions() || !launch_once(arguments[1])) {
        fprintf(stderr, "other_calls: no driver, no runtime or no kernel\n");
        return 1;
    }
    const struct {
        const char *name;
        void (*call)(void);
        const void *function;
    } calls[] = {
        {"cuCtxGetCurrent, linked", call_linked, (const void *)cuCtxGetCurrent},
        {"cuCtxGetCurrent, by dlsym", call_looked_up, (const void *)looked_up},
        {"cuCtxGetCurrent, by cuGetProcAddress", call_proc_address, (const void *)proc_address},
        {"cuMemcpyHtoD of 4 bytes", call_copy, (const void *)copy},
        {"cuStreamSynchronize", call_synchronize, (const void *)wait_for},
        {"cudaGetDevice", call_runtime, (const void *)runtime_get_device},
        {"cuGetProcAddress", call_find, (const void *)find},
        {"dlsym of cudaGetDevice", call_dlsym_other, (const void *)dlsym},
        {"dlsym of cuCtxGetCurrent", call_dlsym_driver, (const void *)dlsym},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        printf("%s\t%.2f\t%s\n", calls[i].name, best_ns(calls[i].call), library_of(calls[i].function));
    }
    return 0;
}
