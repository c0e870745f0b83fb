/* The newer way: a CUlibrary belongs to no context, and its CUkernel is launched as if it were a CUfunction,
 * by cuLaunchKernel and by cuLaunchKernelEx. The program is linked with the driver. */
#include "driver_sample.h"

static const unsigned blocks = 32, threads = 128;
static const unsigned shared_bytes = 128 * sizeof(float);

static void launch(CUfunction function, CUdeviceptr x, int launches)
{
    float by = 1.0f;
    void *arguments[] = {&x, &by};
    for (int i = 0; i < launches; i++) {
        CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, NULL, arguments, NULL));
    }
}

static void launch_extended(CUfunction function, CUdeviceptr x, int launches)
{
    float by = 1.0f;
    void *arguments[] = {&x, &by};
    CUlaunchConfig config = {.gridDimX = blocks,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = shared_bytes};
    for (int i = 0; i < launches; i++) {
        CHECK(cuLaunchKernelEx(&config, function, arguments, NULL));
    }
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CUdeviceptr x;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuLibraryLoadFromFile(&library, beside_program("kernels.fatbin"), NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "offset"));
    CHECK(cuKernelGetFunction(&function, kernel));
    CHECK(cuMemAlloc(&x, blocks * threads * sizeof(float)));

    launch((CUfunction)kernel, x, 7);
    launch_extended((CUfunction)kernel, x, 5);
    launch(function, x, 3);
    print_launch("offset", (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, (dim3){1, 1, 1}, shared_bytes, 15, 0);

    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(x));
    CHECK(cuLibraryUnload(library));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
