/* Green contexts: a part of the device's SMs, and launches that have only these. */
#include "conformance.h"

static CUdevice device;

static CUdevResource split(CUgreenCtx *green, unsigned wanted)
{
    CUdevResource all, part, rest;
    CUdevResourceDesc descriptor;
    unsigned groups = 1;
    SUCCEED(api.cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    int sms;
    SUCCEED(api.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CHECK(all.sm.smCount == (unsigned)sms);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 100000));
    SUCCEED(api.cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, wanted));
    CHECK(groups == 1 && part.sm.smCount >= wanted && part.sm.smCount + rest.sm.smCount == (unsigned)sms);
    SUCCEED(api.cuDevResourceGenerateDesc(&descriptor, &part, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGreenCtxCreate(green, descriptor, device, 0));
    SUCCEED(api.cuGreenCtxCreate(green, descriptor, device, CU_GREEN_CTX_DEFAULT_STREAM));
    return part;
}

static void launches(CUgreenCtx green, CUfunction plain, unsigned sms)
{
    CUstream stream;
    CUgreenCtx of_stream = NULL;
    int blocks;
    SUCCEED(api.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    SUCCEED(api.cuStreamGetGreenCtx(stream, &of_stream));
    CHECK(of_stream == green);
    SUCCEED(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
    unsigned resident = sms * (unsigned)blocks;
    SUCCEED(api.cuLaunchKernel(plain, 8, 1, 1, 256, 1, 1, 0, stream, NULL, NULL));
    SUCCEED(api.cuLaunchCooperativeKernel(plain, resident, 1, 1, 256, 1, 1, 0, stream, NULL));
    GUESS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          api.cuLaunchCooperativeKernel(plain, resident + 1, 1, 1, 256, 1, 1, 0, stream, NULL));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuStreamDestroy(stream));
}

static void as_context(CUgreenCtx green, CUfunction plain, unsigned sms)
{
    CUcontext context, popped;
    CUdevResource resource;
    SUCCEED(api.cuCtxFromGreenCtx(&context, green));
    SUCCEED(api.cuCtxGetDevResource(context, &resource, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(resource.sm.smCount == sms);
    SUCCEED(api.cuCtxPushCurrent(context));
    SUCCEED(api.cuLaunchKernel(plain, 8, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL));
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuCtxPopCurrent(&popped));
    CHECK(popped == context);
}

int main(void)
{
    conformance_begin();
    SUCCEED(api.cuDeviceGet(&device, 0));
    CUfunction plain = function_of(load_ptx(kernels_ptx), "plain");
    CUgreenCtx green;
    unsigned sms = split(&green, 16).sm.smCount;
    launches(green, plain, sms);
    as_context(green, plain, sms);
    SUCCEED(api.cuGreenCtxDestroy(green));
    return conformance_end();
}
