/* Mistakes of a client, which the simulated driver writes into its ledger. For the simulated driver only: a
 * real one may crash on several of them. The argument names the mistake. */
#include "conformance.h"

static CUmodule module;
static CUfunction plain;

static void unloaded_function(void)
{
    SUCCEED(api.cuModuleUnload(module));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void destroyed_stream(void)
{
    CUstream stream;
    SUCCEED(api.cuStreamCreate(&stream, 0));
    SUCCEED(api.cuStreamDestroy(stream));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, api.cuStreamSynchronize(stream));
}

static void function_as_kernel(void)
{
    const char *name;
    EXPECT(CUDA_ERROR_INVALID_HANDLE, api.cuKernelGetName(&name, (CUkernel)plain));
}

static void early_query(void)
{
    int value;
    SUCCEED(api.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, plain));
    SUCCEED(api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SUCCEED(api.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, plain));
}

static void late_query(void)
{
    int value;
    SUCCEED(api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SUCCEED(api.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, plain));
}

static void query_while_capturing(void)
{
    CUstream stream;
    CUgraph graph;
    int blocks;
    __typeof__(cuStreamBeginCapture) *begin = conformance_symbol("cuStreamBeginCapture_v2");
    __typeof__(cuStreamEndCapture) *end = conformance_symbol("cuStreamEndCapture");
    SUCCEED(api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SUCCEED(api.cuStreamCreate(&stream, 0));
    SUCCEED(begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SUCCEED(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 0));
    SUCCEED(end(stream, &graph));
}

static void call_in_host_function(void *result)
{
    *(CUresult *)result = api.cuStreamQuery(NULL);
}

static void host_function(void)
{
    CUresult result = CUDA_SUCCESS;
    SUCCEED(api.cuLaunchHostFunc(NULL, call_in_host_function, &result));
    SUCCEED(api.cuStreamSynchronize(NULL));
    EXPECT(CUDA_ERROR_NOT_PERMITTED, result);
}

/* Registered before cuInit, so it runs after the driver's own end. */
static void launch_at_exit(void)
{
    if (plain) {
        CUresult result = api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        printf("# after teardown: %d\n", (int)result);
    }
}

static void nothing(void) {}

static const struct {
    const char *name;
    void (*make)(void);
} faults[] = {
    {"none", nothing},
    {"unloaded-function", unloaded_function},
    {"destroyed-stream", destroyed_stream},
    {"function-as-kernel", function_as_kernel},
    {"early-query", early_query},
    {"late-query", late_query},
    {"query-while-capturing", query_while_capturing},
    {"host-function", host_function},
    {"after-teardown", nothing},
};

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    if (strcmp(wanted, "after-teardown") == 0) {
        atexit(launch_at_exit);
    }
    conformance_begin();
    module = load_ptx(kernels_ptx);
    plain = function_of(module, "plain");
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (strcmp(faults[i].name, wanted) == 0) {
            faults[i].make();
            return conformance_end();
        }
    }
    fprintf(stderr, "no such fault: %s\n", wanted);
    return 2;
}
