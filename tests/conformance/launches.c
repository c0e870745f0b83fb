/* Every launch function, of both default streams, and the old ones that keep the block shape in the function.
 */
#include "conformance.h"

#define LAUNCH(function, stream) api.cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, stream, NULL, NULL)

static CUfunction plain;

static void streams(void)
{
    CUstream stream;
    SUCCEED(api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SUCCEED(LAUNCH(plain, NULL));
    SUCCEED(LAUNCH(plain, CU_STREAM_LEGACY));
    SUCCEED(LAUNCH(plain, CU_STREAM_PER_THREAD));
    SUCCEED(LAUNCH(plain, stream));
    SUCCEED(api.cuStreamDestroy(stream));
}

static void per_thread_variants(void)
{
    __typeof__(cuLaunchKernel) *launch = conformance_symbol("cuLaunchKernel_ptsz");
    __typeof__(cuLaunchKernelEx) *launch_ex = conformance_symbol("cuLaunchKernelEx_ptsz");
    __typeof__(cuLaunchCooperativeKernel) *cooperative = conformance_symbol("cuLaunchCooperativeKernel_ptsz");
    CUlaunchConfig config = {2, 1, 1, 64, 1, 1, 0, NULL, NULL, 0};
    SUCCEED(launch(plain, 2, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    SUCCEED(launch_ex(&config, plain, NULL, NULL));
    SUCCEED(cooperative(plain, 2, 1, 1, 64, 1, 1, 0, NULL, NULL));
}

static void with_attributes(void)
{
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}},
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = -1}},
        {.id = CU_LAUNCH_ATTRIBUTE_IGNORE},
    };
    CUlaunchConfig config = {2, 1, 1, 64, 1, 1, 0, NULL, attributes, 3};
    SUCCEED(api.cuLaunchKernelEx(&config, plain, NULL, NULL));
    config.gridDimX = 1u << 20;
    EXPECT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, api.cuLaunchKernelEx(&config, plain, NULL, NULL));
}

static void legacy(void)
{
    SUCCEED(api.cuFuncSetBlockShape(plain, 16, 4, 1));
    SUCCEED(api.cuFuncSetSharedSize(plain, 512));
    SUCCEED(api.cuParamSetSize(plain, 0));
    SUCCEED(api.cuLaunch(plain));
    SUCCEED(api.cuLaunchGrid(plain, 3, 2));
    SUCCEED(api.cuLaunchGridAsync(plain, 3, 2, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuFuncSetBlockShape(plain, 0, 1, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuLaunchGrid(plain, 0, 1));
}

static void several_devices(void)
{
    int count = 0;
    CUdevice second;
    CUcontext context, first;
    CUstream streams_of_each[2];
    SUCCEED(api.cuDeviceGetCount(&count));
    if (count < 2) {
        printf("# one device only: no multi-device launch\n");
        return;
    }
    SUCCEED(api.cuStreamCreate(&streams_of_each[0], 0));
    SUCCEED(api.cuDeviceGet(&second, 1));
    SUCCEED(api.cuCtxGetCurrent(&first));
    SUCCEED(api.cuDevicePrimaryCtxRetain(&context, second));
    SUCCEED(api.cuCtxSetCurrent(context));
    CUmodule module = load_ptx(kernels_ptx);
    CUfunction other = function_of(module, "plain");
    SUCCEED(api.cuStreamCreate(&streams_of_each[1], 0));
    SUCCEED(LAUNCH(other, NULL));
    CUDA_LAUNCH_PARAMS list[2] = {{plain, 2, 1, 1, 64, 1, 1, 0, streams_of_each[0], NULL},
                                  {other, 2, 1, 1, 64, 1, 1, 0, streams_of_each[1], NULL}};
    SUCCEED(api.cuLaunchCooperativeKernelMultiDevice(list, 2, 0));
    list[1].hStream = streams_of_each[0];
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuLaunchCooperativeKernelMultiDevice(list, 2, 0));
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuModuleUnload(module));
    SUCCEED(api.cuDevicePrimaryCtxRelease(second));
    SUCCEED(api.cuCtxSetCurrent(first));
}

/* A kernel of a library belongs to no device: the current context decides where it runs. */
static void kernel_on_each_device(void)
{
    CUlibrary library;
    CUkernel kernel;
    int count = 0;
    SUCCEED(api.cuDeviceGetCount(&count));
    SUCCEED(api.cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
    SUCCEED(api.cuLibraryGetKernel(&kernel, library, "bounded"));
    for (int i = 0; i < count; i++) {
        CUcontext context;
        SUCCEED(api.cuDevicePrimaryCtxRetain(&context, i));
        SUCCEED(api.cuCtxPushCurrent(context));
        SUCCEED(LAUNCH((CUfunction)kernel, NULL));
        SUCCEED(api.cuCtxSynchronize());
        SUCCEED(api.cuCtxPopCurrent(&context));
    }
    SUCCEED(api.cuLibraryUnload(library));
}

int main(void)
{
    conformance_begin();
    CUmodule module = load_ptx(kernels_ptx);
    plain = function_of(module, "plain");
    streams();
    per_thread_variants();
    with_attributes();
    legacy();
    several_devices();
    kernel_on_each_device();
    SUCCEED(api.cuCtxSynchronize());
    return conformance_end();
}
