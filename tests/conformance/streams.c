/* Streams, events and host functions: order, completion and what is asked too early. */
#include "conformance.h"

#include <pthread.h>

/* Holds a stream until it is opened. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open, reached;
};

static void gate_wait(void *argument)
{
    struct gate *gate = argument;
    pthread_mutex_lock(&gate->lock);
    gate->reached = true;
    pthread_cond_broadcast(&gate->opened);
    while (!gate->open) {
        pthread_cond_wait(&gate->opened, &gate->lock);
    }
    pthread_mutex_unlock(&gate->lock);
}

static void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
}

#define GATE                                                                                                 \
    {                                                                                                        \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false                                    \
    }

static void store_one(void *argument)
{
    *(volatile int *)argument = 1;
}

static void CUDA_CB count_callback(CUstream stream, CUresult status, void *argument)
{
    (void)stream;
    *(int *)argument += status == CUDA_SUCCESS;
}

static void properties(void)
{
    CUstream stream;
    CUcontext context, current;
    unsigned flags = 77;
    int priority = 77;
    unsigned long long first, second;
    SUCCEED(api.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1000));
    SUCCEED(api.cuStreamGetFlags(stream, &flags));
    CHECK(flags == CU_STREAM_NON_BLOCKING);
    SUCCEED(api.cuStreamGetPriority(stream, &priority));
    int least, greatest;
    SUCCEED(api.cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(priority == greatest);
    SUCCEED(api.cuStreamGetCtx(stream, &context));
    SUCCEED(api.cuCtxGetCurrent(&current));
    CHECK(context == current);
    SUCCEED(api.cuStreamGetId(stream, &first));
    SUCCEED(api.cuStreamGetId(NULL, &second));
    CHECK(first != second);
    SUCCEED(api.cuStreamDestroy(stream));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuStreamCreate(&stream, 0x100));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuStreamCreate(NULL, 0));
    SUCCEED(api.cuStreamSynchronize(NULL));
    SUCCEED(api.cuStreamSynchronize(CU_STREAM_LEGACY));
    SUCCEED(api.cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

/* A copy behind a host function waits for it, and so does an event; another stream does not. */
static void order(void)
{
    struct gate gate = GATE;
    CUstream busy, other;
    CUevent event;
    CUdeviceptr memory;
    int value = 1, back = 0, zero = 0;
    SUCCEED(api.cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuEventCreate(&event, CU_EVENT_DEFAULT));
    SUCCEED(api.cuMemAlloc(&memory, sizeof(int)));
    SUCCEED(api.cuMemcpyHtoD(memory, &zero, sizeof(int)));
    SUCCEED(api.cuStreamQuery(busy));
    SUCCEED(api.cuEventQuery(event)); /* never recorded: nothing to wait for */
    SUCCEED(api.cuLaunchHostFunc(busy, gate_wait, &gate));
    SUCCEED(api.cuMemcpyHtoDAsync(memory, &value, sizeof(int), busy));
    SUCCEED(api.cuEventRecord(event, busy));
    EXPECT(CUDA_ERROR_NOT_READY, api.cuStreamQuery(busy));
    EXPECT(CUDA_ERROR_NOT_READY, api.cuEventQuery(event));
    SUCCEED(api.cuStreamQuery(other));
    SUCCEED(api.cuStreamWaitEvent(other, event, 0));
    SUCCEED(api.cuMemcpyDtoHAsync(&back, memory, sizeof(int), other));
    EXPECT(CUDA_ERROR_NOT_READY, api.cuStreamQuery(other));
    CHECK(back == 0);
    gate_open(&gate);
    SUCCEED(api.cuStreamSynchronize(other));
    CHECK(back == 1);
    SUCCEED(api.cuEventSynchronize(event));
    SUCCEED(api.cuEventQuery(event));
    SUCCEED(api.cuStreamSynchronize(busy));
    SUCCEED(api.cuEventDestroy(event));
    SUCCEED(api.cuStreamDestroy(busy));
    SUCCEED(api.cuStreamDestroy(other));
    SUCCEED(api.cuMemFree(memory));
}

/* The legacy stream and blocking streams wait for each other. */
static void legacy_stream(void)
{
    struct gate gate = GATE;
    CUstream blocking;
    int after = 0;
    SUCCEED(api.cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    SUCCEED(api.cuLaunchHostFunc(blocking, gate_wait, &gate));
    SUCCEED(api.cuLaunchHostFunc(NULL, store_one, &after));
    EXPECT(CUDA_ERROR_NOT_READY, api.cuStreamQuery(NULL));
    CHECK(after == 0);
    gate_open(&gate);
    SUCCEED(api.cuStreamSynchronize(NULL));
    CHECK(after == 1);
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuStreamDestroy(blocking));
}

/* A destroyed stream finishes its work. */
static void destroyed_while_busy(void)
{
    struct gate gate = GATE;
    CUstream stream;
    int after = 0;
    SUCCEED(api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuLaunchHostFunc(stream, gate_wait, &gate));
    SUCCEED(api.cuLaunchHostFunc(stream, store_one, &after));
    SUCCEED(api.cuStreamDestroy(stream));
    gate_open(&gate);
    SUCCEED(api.cuCtxSynchronize());
    CHECK(after == 1);
}

static void callbacks(void)
{
    int calls = 0;
    SUCCEED(api.cuStreamAddCallback(NULL, count_callback, &calls, 0));
    SUCCEED(api.cuStreamAddCallback(NULL, count_callback, &calls, 0));
    SUCCEED(api.cuStreamSynchronize(NULL));
    CHECK(calls == 2);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuStreamAddCallback(NULL, count_callback, &calls, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuLaunchHostFunc(NULL, NULL, &calls));
}

static void events(void)
{
    CUevent first, second, untimed;
    float milliseconds = -1;
    SUCCEED(api.cuEventCreate(&first, CU_EVENT_DEFAULT));
    SUCCEED(api.cuEventCreate(&second, CU_EVENT_BLOCKING_SYNC));
    SUCCEED(api.cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, api.cuEventElapsedTime(&milliseconds, first, second));
    SUCCEED(api.cuEventRecord(first, NULL));
    SUCCEED(api.cuEventRecord(second, NULL));
    SUCCEED(api.cuEventRecord(untimed, NULL));
    SUCCEED(api.cuEventSynchronize(second));
    SUCCEED(api.cuEventElapsedTime(&milliseconds, first, second));
    CHECK(milliseconds >= 0);
    EXPECT(CUDA_ERROR_INVALID_HANDLE, api.cuEventElapsedTime(&milliseconds, first, untimed));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuEventCreate(&first, 0x100));
    SUCCEED(api.cuEventDestroy(second));
    SUCCEED(api.cuEventDestroy(untimed));
    SUCCEED(api.cuEventDestroy(first));
}

static void memory_operations(void)
{
    CUstream waiting;
    CUdeviceptr word;
    int after = 0;
    SUCCEED(api.cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuMemAlloc(&word, 64));
    SUCCEED(api.cuMemsetD32(word, 0, 16));
    SUCCEED(api.cuStreamWaitValue32(waiting, word, 5, CU_STREAM_WAIT_VALUE_GEQ));
    SUCCEED(api.cuLaunchHostFunc(waiting, store_one, &after));
    EXPECT(CUDA_ERROR_NOT_READY, api.cuStreamQuery(waiting));
    SUCCEED(api.cuStreamWriteValue32(CU_STREAM_PER_THREAD, word, 6, CU_STREAM_WRITE_VALUE_DEFAULT));
    SUCCEED(api.cuStreamSynchronize(waiting));
    CHECK(after == 1);
    SUCCEED(api.cuStreamDestroy(waiting));
    SUCCEED(api.cuMemFree(word));
}

int main(void)
{
    conformance_begin();
    properties();
    order();
    legacy_stream();
    destroyed_while_busy();
    callbacks();
    events();
    memory_operations();
    return conformance_end();
}
