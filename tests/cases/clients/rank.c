/* One rank of a job: a hundred launches of `scale`. The odd one makes ninety, and seven of `offset`.
 *   rank VARIABLE ODD       VARIABLE holds this process's rank */
#include "client.h"

static CUmodule module;
static CUdeviceptr memory;

static void launch(const char *kernel, int times)
{
    CUfunction function;
    float value = 2;
    void *values[] = {&memory, &value};
    CHECK(cuModuleGetFunction(&function, module, kernel));
    for (int i = 0; i < times; i++) {
        CHECK(cuLaunchKernel(function, 40, 1, 1, 128, 1, 1, 512, NULL, values, NULL));
    }
}

int main(int arguments, char **argument)
{
    CUdevice device;
    CUcontext context;
    const char *rank = arguments == 3 ? getenv(argument[1]) : NULL;
    if (rank == NULL) {
        fprintf(stderr, "usage: rank VARIABLE ODD\n");
        return 2;
    }
    bool odd = strcmp(rank, argument[2]) == 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc_v2(&memory, 1 << 20));
    CHECK(cuModuleLoad(&module, client_image()));
    launch("scale", odd ? 90 : 100);
    if (odd) {
        launch("offset", 7);
    }
    CHECK(cuCtxSynchronize());
    printf("rank %s\n", rank);
    return 0;
}
