/* Initialisation, primary and created contexts, and the stack of current contexts. */
#include "conformance.h"

static CUdevice device;

static void before_init(void)
{
    int value;
    CUcontext context;
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.cuDeviceGetCount(&value));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.cuCtxGetCurrent(&context));
    SUCCEED(api.cuDriverGetVersion(&value));
    CHECK(value >= 11000);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuDriverGetVersion(NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuInit(1));
    const char *name = NULL;
    SUCCEED(api.cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name));
    CHECK(name && strcmp(name, "CUDA_ERROR_NOT_INITIALIZED") == 0);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGetErrorName((CUresult)123456, &name));
}

static void devices(void)
{
    int count = 0, value = 0;
    char name[8], bus[32];
    CUdevice found;
    SUCCEED(api.cuDeviceGetCount(&count));
    CHECK(count >= 1);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, api.cuDeviceGet(&found, count));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, api.cuDeviceGet(&found, -1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuDeviceGet(NULL, 0));
    SUCCEED(api.cuDeviceGet(&device, 0));
    SUCCEED(api.cuDeviceGetName(name, sizeof(name), device));
    CHECK(strlen(name) == sizeof(name) - 1);
    SUCCEED(api.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    CHECK(value == 32);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, device));
    SUCCEED(api.cuDeviceGetPCIBusId(bus, sizeof(bus), device));
    SUCCEED(api.cuDeviceGetByPCIBusId(&found, bus));
    CHECK(found == device);
}

static void without_context(void)
{
    CUcontext context = (CUcontext)&device;
    CUdeviceptr memory;
    CUdevice current;
    SUCCEED(api.cuCtxGetCurrent(&context));
    CHECK(context == NULL);
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.cuMemAlloc(&memory, 256));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.cuCtxGetDevice(&current));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.cuCtxPopCurrent(&context));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.cuCtxSynchronize());
}

static void primary(void)
{
    CUcontext first, second;
    unsigned flags;
    int active;
    SUCCEED(api.cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(!active);
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.cuDevicePrimaryCtxRelease(device));
    SUCCEED(api.cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_BLOCKING_SYNC));
    SUCCEED(api.cuDevicePrimaryCtxRetain(&first, device));
    SUCCEED(api.cuDevicePrimaryCtxRetain(&second, device));
    CHECK(first == second);
    SUCCEED(api.cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(active && (flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC);
    SUCCEED(api.cuDevicePrimaryCtxRelease(device));
    SUCCEED(api.cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(active);
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.cuCtxDestroy(first));
    SUCCEED(api.cuCtxSetCurrent(first));
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuDevicePrimaryCtxRelease(device));
    SUCCEED(api.cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(!active);
    EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, api.cuCtxSynchronize());
    SUCCEED(api.cuDevicePrimaryCtxRetain(&second, device));
    CHECK(first == second);
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuCtxSetCurrent(NULL));
    SUCCEED(api.cuDevicePrimaryCtxRelease(device));
}

static void created(void)
{
    CUcontext first, second, current;
    unsigned long long first_id, second_id;
    SUCCEED(api.cuCtxCreate(&first, NULL, 0, device));
    SUCCEED(api.cuCtxCreate(&second, NULL, CU_CTX_SCHED_YIELD, device));
    CHECK(first != second);
    SUCCEED(api.cuCtxGetId(first, &first_id));
    SUCCEED(api.cuCtxGetId(NULL, &second_id));
    CHECK(first_id != second_id);
    SUCCEED(api.cuCtxGetCurrent(&current));
    CHECK(current == second);
    SUCCEED(api.cuCtxPopCurrent(&current));
    CHECK(current == second);
    SUCCEED(api.cuCtxGetCurrent(&current));
    CHECK(current == first);
    SUCCEED(api.cuCtxPushCurrent(second));
    SUCCEED(api.cuCtxDestroy(second));
    SUCCEED(api.cuCtxGetCurrent(&current));
    CHECK(current == first);
    SUCCEED(api.cuCtxDestroy(first));
    SUCCEED(api.cuCtxGetCurrent(&current));
    CHECK(current == NULL);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, api.cuCtxCreate(&first, NULL, 0, 1000));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuCtxCreate(&first, NULL, 0x10000, device));
}

static void limits(void)
{
    CUcontext context;
    size_t value = 0;
    SUCCEED(api.cuCtxCreate(&context, NULL, 0, device));
    SUCCEED(api.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    SUCCEED(api.cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    CHECK(value >= 4096);
    EXPECT(CUDA_ERROR_UNSUPPORTED_LIMIT, api.cuCtxSetLimit((CUlimit)1000, 1));
    int least = 1, greatest = 1;
    SUCCEED(api.cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest < 0);
    SUCCEED(api.cuCtxDestroy(context));
}

int main(void)
{
    conformance_load();
    before_init();
    SUCCEED(api.cuInit(0));
    SUCCEED(api.cuInit(0));
    devices();
    without_context();
    primary();
    created();
    limits();
    return conformance_end();
}
