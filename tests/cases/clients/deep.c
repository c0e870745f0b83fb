/* A library that is opened with RTLD_DEEPBIND: its references go to libcuda past everything that is
 * preloaded. */
#include "client.h"

void deep_launch(const char *image);
void deep_launch(const char *image)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction scale;
    CUdeviceptr memory;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate_v2(&context, 0, device));
    CHECK(cuMemAlloc_v2(&memory, 1 << 20));
    CHECK(cuModuleLoad(&module, image));
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(cuLaunchKernel(scale, 12, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
    printf("launched\n");
}
