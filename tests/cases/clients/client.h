/* What the small programs of the edge-case tests share: checked calls and the device code of the sample
 * programs. Each program takes the name of a scenario; tests compare what it prints, its ledger and its
 * report. */
#ifndef WARPWATCH_CLIENT_H
#define WARPWATCH_CLIENT_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_apps/driver_check.h"

struct scenario {
    const char *name;
    void (*run)(void);
};

static inline int run_scenario(const struct scenario *scenarios, size_t count, int arguments, char **argument)
{
    for (size_t i = 0; i < count; i++) {
        if (arguments > 1 && strcmp(scenarios[i].name, argument[1]) == 0) {
            scenarios[i].run();
            return 0;
        }
    }
    fprintf(stderr, "no such scenario: %s\n", arguments > 1 ? argument[1] : "");
    return 2;
}
#define RUN_SCENARIO(scenarios, arguments, argument)                                                         \
    run_scenario(scenarios, sizeof(scenarios) / sizeof *(scenarios), arguments, argument)

/* The fat binary with `scale` and `offset`; CLIENT_IMAGE names another. */
static inline const char *client_image(void)
{
    const char *image = getenv("CLIENT_IMAGE");
    return image ? image : CLIENT_IMAGE;
}

/* A context on device 0, a megabyte of its memory, and `scale`; returns the module that holds it. */
static inline CUmodule client_open(CUcontext *context, CUdeviceptr *memory, CUfunction *scale)
{
    CUdevice device;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate_v2(context, 0, device));
    CHECK(cuMemAlloc_v2(memory, 1 << 20));
    CHECK(cuModuleLoad(&module, client_image()));
    CHECK(cuModuleGetFunction(scale, module, "scale"));
    return module;
}

/* A node of `grid` blocks of 64 threads. */
static inline CUDA_KERNEL_NODE_PARAMS_v2 client_kernel_node(CUfunction function, unsigned grid,
                                                            unsigned shared_bytes, void **values)
{
    return (CUDA_KERNEL_NODE_PARAMS_v2){.func = function,
                                        .gridDimX = grid,
                                        .gridDimY = 1,
                                        .gridDimZ = 1,
                                        .blockDimX = 64,
                                        .blockDimY = 1,
                                        .blockDimZ = 1,
                                        .sharedMemBytes = shared_bytes,
                                        .kernelParams = values};
}

/* Base name of the library that holds an address. */
static inline const char *library_of(const void *address)
{
    Dl_info info;
    if (address == NULL) {
        return "NULL";
    }
    if (!dladdr(address, &info) || info.dli_fname == NULL) {
        return "?";
    }
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

#endif
