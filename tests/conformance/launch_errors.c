/* Every way in which a launch can be wrong, and the right one beside it. */
#include "conformance.h"

static CUdevice device;

static int attribute(CUdevice_attribute which)
{
    int value = 0;
    api.cuDeviceGetAttribute(&value, which, device);
    return value;
}

static CUresult launch(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared_bytes)
{
    return api.cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared_bytes, NULL, NULL, NULL);
}

static void shapes(CUfunction plain)
{
    SUCCEED(launch(plain, 1, 1, 1, 1, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 0, 1, 1, 32, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 0, 1, 32, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 0, 32, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 0, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 32, 0, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 32, 1, 0, 0));
    SUCCEED(launch(plain, 1, 1, 1, 1024, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 1025, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 513, 2, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 65536, 65536, 1, 0)); /* the product wraps to 0 */
    SUCCEED(launch(plain, 1, 1, 1, 1, 1, 64, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 1, 1, 65, 0));
    SUCCEED(launch(plain, 1, 65535, 1, 1, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 65536, 1, 1, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 65536, 1, 1, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 2147483648u, 1, 1, 1, 1, 1, 0));
}

static void own_limits(CUmodule module)
{
    CUfunction bounded = function_of(module, "bounded"), fixed = function_of(module, "fixed");
    SUCCEED(launch(bounded, 1, 1, 1, 256, 1, 1, 0));
    SUCCEED(launch(bounded, 1, 1, 1, 16, 16, 1, 0));
    GUESS(CUDA_ERROR_INVALID_VALUE, launch(bounded, 1, 1, 1, 257, 1, 1, 0));
    SUCCEED(launch(fixed, 1, 1, 1, 64, 2, 1, 0));
    GUESS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 1, 1, 1, 128, 1, 1, 0));
}

static void registers(void)
{
    char *ptx = heavy_ptx();
    CUmodule module = load_ptx(ptx);
    CUfunction heavy = function_of(module, "heavy");
    CUdeviceptr memory;
    SUCCEED(api.cuMemAlloc(&memory, 4096));
    void *parameters[] = {&memory};
    SUCCEED(api.cuLaunchKernel(heavy, 1, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    EXPECT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
           api.cuLaunchKernel(heavy, 1, 1, 1, 1024, 1, 1, 0, NULL, parameters, NULL));
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuMemFree(memory));
    SUCCEED(api.cuModuleUnload(module));
    free(ptx);
}

static void shared_memory(CUmodule module, CUfunction plain)
{
    unsigned most = (unsigned)attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    CUfunction with_static = function_of(module, "shared_static");
    SUCCEED(launch(plain, 1, 1, 1, 32, 1, 1, 49152));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 32, 1, 1, 49153));
    SUCCEED(launch(with_static, 1, 1, 1, 32, 1, 1, 49152 - 1024));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(with_static, 1, 1, 1, 32, 1, 1, 49152));
    CUfunction_attribute optin = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuFuncSetAttribute(plain, optin, (int)most + 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuFuncSetAttribute(with_static, optin, (int)most));
    SUCCEED(api.cuFuncSetAttribute(plain, optin, (int)most));
    SUCCEED(launch(plain, 1, 1, 1, 32, 1, 1, most));
    EXPECT(CUDA_ERROR_INVALID_VALUE, launch(plain, 1, 1, 1, 32, 1, 1, most + 1));
}

static CUresult launch_cluster(CUfunction function, unsigned grid, unsigned cluster)
{
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value = {.clusterDim = {cluster, 1, 1}}}};
    CUlaunchConfig config = {.gridDimX = grid,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 64,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = attributes,
                             .numAttrs = 1};
    return api.cuLaunchKernelEx(&config, function, NULL, NULL);
}

static void clusters(CUfunction plain)
{
    if (!attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)) {
        GUESS(CUDA_ERROR_NOT_SUPPORTED, launch_cluster(plain, 2, 2));
        return;
    }
    SUCCEED(launch_cluster(plain, 16, 8));
    GUESS(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_cluster(plain, 15, 8));
    EXPECT(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_cluster(plain, 32, 16));
    if (attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) <= 10) {
        SUCCEED(api.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
        SUCCEED(launch_cluster(plain, 32, 16));
        EXPECT(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_cluster(plain, 64, 32));
    }
}

static void cooperative(CUfunction plain)
{
    int blocks;
    SUCCEED(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
    unsigned resident = (unsigned)(blocks * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    SUCCEED(api.cuLaunchCooperativeKernel(plain, resident, 1, 1, 256, 1, 1, 0, NULL, NULL));
    EXPECT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
           api.cuLaunchCooperativeKernel(plain, resident + 1, 1, 1, 256, 1, 1, 0, NULL, NULL));
}

static void arguments(CUfunction plain)
{
    size_t bytes = 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    void *parameters[] = {NULL};
    SUCCEED(api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, extra));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuLaunchKernelEx(NULL, plain, NULL, NULL));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, launch(NULL, 1, 1, 1, 1, 1, 1, 0));
}

/* Undefined on a real driver, which may crash. */
static void dead_handles(void)
{
    if (!conformance_is_simulated()) {
        printf("# not on a real driver: launches of unloaded functions, in destroyed streams\n");
        return;
    }
    CUmodule module = load_ptx(kernels_ptx);
    CUfunction unloaded = function_of(module, "plain");
    SUCCEED(api.cuModuleUnload(module));
    GUESS(CUDA_ERROR_INVALID_HANDLE, launch(unloaded, 1, 1, 1, 32, 1, 1, 0));
    module = load_ptx(kernels_ptx);
    CUfunction plain = function_of(module, "plain");
    CUstream stream;
    SUCCEED(api.cuStreamCreate(&stream, 0));
    SUCCEED(api.cuStreamDestroy(stream));
    GUESS(CUDA_ERROR_INVALID_HANDLE, api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    SUCCEED(api.cuModuleUnload(module));
}

static void contexts(CUfunction plain)
{
    CUcontext primary, other;
    SUCCEED(api.cuCtxGetCurrent(&primary));
    SUCCEED(api.cuCtxCreate(&other, NULL, 0, device));
    CUmodule module = load_ptx(kernels_ptx);
    CUfunction others = function_of(module, "plain");
    SUCCEED(launch(others, 1, 1, 1, 32, 1, 1, 0));
    GUESS(CUDA_ERROR_INVALID_HANDLE, launch(plain, 1, 1, 1, 32, 1, 1, 0));
    SUCCEED(api.cuCtxSetCurrent(NULL)); /* pops: the primary context comes up */
    SUCCEED(api.cuCtxSetCurrent(NULL));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, launch(plain, 1, 1, 1, 32, 1, 1, 0));
    SUCCEED(api.cuCtxSetCurrent(primary));
    SUCCEED(launch(plain, 1, 1, 1, 32, 1, 1, 0));
    SUCCEED(api.cuCtxDestroy(other));
}

static void destroyed_context(void)
{
    CUcontext context;
    SUCCEED(api.cuDevicePrimaryCtxRetain(&context, device));
    SUCCEED(api.cuDevicePrimaryCtxReset(device));
    EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, api.cuCtxSynchronize());
}

int main(void)
{
    conformance_begin();
    SUCCEED(api.cuDeviceGet(&device, 0));
    CUmodule module = load_ptx(kernels_ptx);
    CUfunction plain = function_of(module, "plain");
    shapes(plain);
    own_limits(module);
    registers();
    shared_memory(module, plain);
    clusters(plain);
    cooperative(plain);
    arguments(plain);
    dead_handles();
    contexts(plain);
    destroyed_context();
    return conformance_end();
}
