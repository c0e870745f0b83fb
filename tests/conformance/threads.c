/* Eight threads that share a context and do everything at once; under ThreadSanitizer this checks the
 * simulated driver itself. */
#include "conformance.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 8
#define ROUNDS  200

static CUcontext context;
static CUfunction shared_function;
static _Atomic int wrong;

#define MUST(call)                                                                                           \
    if ((call) != CUDA_SUCCESS) {                                                                            \
        atomic_fetch_add(&wrong, 1);                                                                         \
    }

static void count_up(void *counter)
{
    atomic_fetch_add((_Atomic int *)counter, 1);
}

static void launch_round(CUstream stream, CUevent event, _Atomic int *counter)
{
    CUdeviceptr memory;
    int value = 5, back = 0;
    MUST(api.cuLaunchKernel(shared_function, 4, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL));
    MUST(api.cuLaunchKernel(shared_function, 4, 1, 1, 64, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL));
    MUST(api.cuLaunchKernel(shared_function, 4, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    MUST(api.cuMemAllocAsync(&memory, 4096, stream));
    MUST(api.cuMemcpyHtoDAsync(memory, &value, sizeof(value), stream));
    MUST(api.cuLaunchHostFunc(stream, count_up, counter));
    MUST(api.cuMemcpyDtoHAsync(&back, memory, sizeof(back), stream));
    MUST(api.cuEventRecord(event, stream));
    MUST(api.cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0));
    MUST(api.cuMemFreeAsync(memory, stream));
    MUST(api.cuStreamSynchronize(stream));
    if (back != value || api.cuEventQuery(event) != CUDA_SUCCESS) {
        atomic_fetch_add(&wrong, 1);
    }
}

static void module_round(void)
{
    CUmodule module;
    CUfunction function;
    MUST(api.cuModuleLoadData(&module, kernels_ptx));
    MUST(api.cuModuleGetFunction(&function, module, "bounded"));
    MUST(api.cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL));
    MUST(api.cuModuleUnload(module));
}

static void *run(void *argument)
{
    _Atomic int *counter = argument;
    CUstream stream;
    CUevent event;
    MUST(api.cuCtxSetCurrent(context));
    MUST(api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(api.cuEventCreate(&event, CU_EVENT_DEFAULT));
    for (int i = 0; i < ROUNDS; i++) {
        launch_round(stream, event, counter);
        if (i % 20 == 0) {
            module_round();
        }
    }
    MUST(api.cuEventDestroy(event));
    MUST(api.cuStreamDestroy(stream));
    return NULL;
}

int main(void)
{
    conformance_begin();
    SUCCEED(api.cuCtxGetCurrent(&context));
    CUmodule module = load_ptx(kernels_ptx);
    shared_function = function_of(module, "plain");
    pthread_t threads[THREADS];
    _Atomic int counters[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, run, &counters[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(atomic_load(&counters[i]) == ROUNDS);
    }
    SUCCEED(api.cuCtxSynchronize());
    CHECK(atomic_load(&wrong) == 0);
    SUCCEED(api.cuModuleUnload(module));
    return conformance_end();
}
