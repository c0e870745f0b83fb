/* What a capture forbids, to its own thread and to others, and what breaks it. A broken capture says so until
 * it is ended, and gives no graph. */
#include "graph_support.h"

#include <pthread.h>

static struct kernels kernels;
static CUdeviceptr memory;
static CUstream stream, blocking;
static CUevent event, outside;

static void begin(CUstream on, CUstreamCaptureMode mode)
{
    SUCCEED(api.cuStreamBeginCapture(on, mode));
}

static void end_broken(CUstream on)
{
    CUgraph graph = (CUgraph)1;
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, api.cuStreamEndCapture(on, &graph));
    CHECK(graph == NULL);
}

static void end_sound(CUstream on)
{
    CUgraph graph = NULL;
    SUCCEED(api.cuStreamEndCapture(on, &graph));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void waiting(void)
{
    CUstreamCaptureStatus status;

    printf("# waiting for what is being captured\n");
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, api.cuStreamSynchronize(stream));
    SUCCEED(api.cuStreamIsCapturing(stream, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, api.cuMemsetD8Async(memory, 0, 16, stream));
    end_broken(stream);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, api.cuStreamQuery(stream));
    end_broken(stream);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, api.cuCtxSynchronize());
    end_broken(stream);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    SUCCEED(api.cuEventRecord(event, stream));
    EXPECT(CUDA_ERROR_CAPTURED_EVENT, api.cuEventQuery(event));
    end_broken(stream);
    GUESS(CUDA_ERROR_CAPTURED_EVENT, api.cuEventQuery(event));
    SUCCEED(api.cuEventRecord(event, stream));
    SUCCEED(api.cuEventSynchronize(event));
}

/* cuMemAlloc stands for the calls that are "potentially unsafe". */
static void allocate(bool allowed)
{
    CUdeviceptr address = 0;
    EXPECT(allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, api.cuMemAlloc(&address, 64));
    if (address) {
        SUCCEED(api.cuMemFree(address));
    }
}

static void unsafe_calls(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    printf("# cuMemAlloc in the thread that captures, by mode of the capture\n");
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    allocate(false);
    end_broken(stream);
    begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    allocate(false);
    end_broken(stream);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    allocate(true);
    end_sound(stream);

    printf("# ... with the thread's own mode relaxed\n");
    SUCCEED(api.cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    allocate(true);
    end_sound(stream);
    SUCCEED(api.cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
}

/* --- other threads
 * ------------------------------------------------------------------------------------------ */

static void *allocate_in_mode(void *own_mode)
{
    CUstreamCaptureMode mode = *(CUstreamCaptureMode *)own_mode;
    SUCCEED(api.cuCtxSetCurrent(kernels.context));
    SUCCEED(api.cuThreadExchangeStreamCaptureMode(&mode));
    allocate(*(CUstreamCaptureMode *)own_mode != CU_STREAM_CAPTURE_MODE_GLOBAL);
    return NULL;
}

static void *allocate_freely(void *unused)
{
    (void)unused;
    SUCCEED(api.cuCtxSetCurrent(kernels.context));
    allocate(true);
    return NULL;
}

static void *end_in_vain(void *unused)
{
    CUgraph graph;
    (void)unused;
    SUCCEED(api.cuCtxSetCurrent(kernels.context));
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, api.cuStreamEndCapture(stream, &graph));
    return NULL;
}

static void *end_relaxed(void *unused)
{
    (void)unused;
    SUCCEED(api.cuCtxSetCurrent(kernels.context));
    end_sound(stream);
    return NULL;
}

static void in_thread(void *(*function)(void *), void *data)
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, data);
    pthread_join(thread, NULL);
}

static void other_threads(void)
{
    CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL, local = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    CUgraph graph = NULL;

    printf("# cuMemAlloc in another thread, by mode of the capture\n");
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    in_thread(allocate_in_mode, &local);
    in_thread(allocate_in_mode, &global);
    end_broken(stream);
    begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    in_thread(allocate_freely, NULL);
    end_sound(stream);

    printf("# ended by another thread\n");
    begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    in_thread(end_in_vain, NULL);
    GUESS(CUDA_SUCCESS, api.cuStreamEndCapture(stream, &graph));
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    in_thread(end_relaxed, NULL);
    if (graph) {
        SUCCEED(api.cuGraphDestroy(graph));
    }
}

/* --- other streams
 * ------------------------------------------------------------------------------------------ */

static void legacy_stream(void)
{
    CUstreamCaptureStatus status;

    printf("# the legacy stream\n");
    GUESS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          api.cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL));
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    SUCCEED(api.cuMemsetD8Async(memory, 0, 16, CU_STREAM_LEGACY)); /* that stream does not block */
    end_sound(stream);
    begin(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, api.cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
    SUCCEED(api.cuStreamIsCapturing(blocking, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, api.cuMemsetD8Async(memory, 0, 16, CU_STREAM_LEGACY));
    end_broken(blocking);
    SUCCEED(api.cuMemsetD8Async(memory, 0, 16, CU_STREAM_LEGACY));
    begin(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL);
    launch_kernel(CU_STREAM_PER_THREAD, kernels.three, 1);
    end_sound(CU_STREAM_PER_THREAD);
}

static void dependencies(void)
{
    printf("# dependencies across the edge of a capture\n");
    SUCCEED(api.cuEventRecord(outside, stream));
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, api.cuStreamWaitEvent(stream, outside, 0));
    end_broken(stream);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    begin(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
    SUCCEED(api.cuEventRecord(event, stream));
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_MERGE, api.cuStreamWaitEvent(blocking, event, 0));
    end_broken(stream);
    end_broken(blocking);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    SUCCEED(api.cuEventRecord(event, stream));
    GUESS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, api.cuStreamWaitEvent(CU_STREAM_LEGACY, event, 0));
    end_broken(stream);
    GUESS(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, api.cuStreamWaitEvent(blocking, event, 0));
}

static void callback(CUstream on, CUresult status, void *data)
{
    (void)on, (void)status, (void)data;
}

static void various(void)
{
    CUgraph graph;

    printf("# callbacks, wrong modes, wrong streams\n");
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    GUESS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, api.cuStreamAddCallback(stream, callback, NULL, 0));
    end_broken(stream);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuStreamBeginCapture(stream, (CUstreamCaptureMode)7));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuStreamEndCapture(stream, NULL));
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    SUCCEED(api.cuEventRecord(event, stream));
    SUCCEED(api.cuStreamWaitEvent(blocking, event, 0));
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, api.cuStreamEndCapture(blocking, &graph));
    end_broken(stream);
}

/* A stream that ends takes its capture with it; what joined it is free again. */
static void destroyed_streams(void)
{
    CUstream origin, joined;
    CUstreamCaptureStatus status;

    printf("# streams destroyed while they capture\n");
    SUCCEED(api.cuStreamCreate(&origin, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuStreamCreate(&joined, CU_STREAM_NON_BLOCKING));
    begin(origin, CU_STREAM_CAPTURE_MODE_RELAXED);
    SUCCEED(api.cuEventRecord(event, origin));
    SUCCEED(api.cuStreamWaitEvent(joined, event, 0));
    SUCCEED(api.cuStreamDestroy(origin));
    SUCCEED(api.cuStreamIsCapturing(joined, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE || !conformance_is_simulated());
    SUCCEED(api.cuStreamDestroy(joined));
    allocate(true);
}

int main(void)
{
    kernels = kernels_load();
    memory = memory_allocate(4096);
    SUCCEED(api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    SUCCEED(api.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    SUCCEED(api.cuEventCreate(&outside, CU_EVENT_DISABLE_TIMING));
    waiting();
    unsafe_calls();
    other_threads();
    legacy_stream();
    dependencies();
    various();
    destroyed_streams();
    launch_kernel(stream, kernels.three, 3);
    SUCCEED(api.cuCtxSynchronize());
    launched("three", 3, 1, 0);
    return conformance_end();
}
