/* Graphs and captures in many threads at once: each its own, and one capture that all take part in. */
#include "graph_support.h"

#include <pthread.h>

#define THREADS_COUNT 8
#define ROUNDS        40

static struct kernels kernels;

struct worker {
    pthread_t thread;
    unsigned index;
    CUstream stream;
    CUevent joined;
    unsigned failures;
    int host_calls;
};

static struct worker workers[THREADS_COUNT];
static CUstream shared_origin;
static CUevent shared_fork;

static void require(struct worker *worker, CUresult result)
{
    worker->failures += result != CUDA_SUCCESS;
}

static void count_call(void *data)
{
    ++*(int *)data;
}

static void launch(struct worker *worker, CUstream stream, unsigned blocks)
{
    struct arguments arguments;
    kernel_parameters(kernels.three, blocks, &arguments);
    require(worker, api.cuLaunchKernel(kernels.three, blocks, 1, 1, THREADS, 1, 1, 0, stream,
                                       arguments.pointers, NULL));
}

/* Captures, replays, updates and destroys a graph of its own. */
static void *own_graphs(void *data)
{
    struct worker *worker = data;
    require(worker, api.cuCtxSetCurrent(kernels.context));
    require(worker, api.cuStreamCreate(&worker->stream, CU_STREAM_NON_BLOCKING));
    for (unsigned round = 0; round < ROUNDS; round++) {
        CUgraph graphs[2];
        CUgraphExec exec;
        CUgraphExecUpdateResultInfo info;
        for (int i = 0; i < 2; i++) {
            require(worker, api.cuStreamBeginCapture(worker->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
            launch(worker, worker->stream, worker->index + 1);
            require(worker, api.cuLaunchHostFunc(worker->stream, count_call, &worker->host_calls));
            launch(worker, worker->stream, worker->index + 1);
            require(worker, api.cuStreamEndCapture(worker->stream, &graphs[i]));
        }
        require(worker, api.cuGraphInstantiateWithFlags(&exec, graphs[0], 0));
        require(worker, api.cuGraphLaunch(exec, worker->stream));
        require(worker, api.cuGraphExecUpdate(exec, graphs[1], &info));
        require(worker, api.cuGraphLaunch(exec, worker->stream));
        require(worker, api.cuGraphExecDestroy(exec)); /* while its host function may still run */
        require(worker, api.cuGraphDestroy(graphs[0]));
        require(worker, api.cuGraphDestroy(graphs[1]));
    }
    require(worker, api.cuStreamSynchronize(worker->stream));
    return NULL;
}

/* Joins the one capture, adds a kernel to it and shows the way back. */
static void *take_part(void *data)
{
    struct worker *worker = data;
    require(worker, api.cuCtxSetCurrent(kernels.context));
    require(worker, api.cuStreamWaitEvent(worker->stream, shared_fork, 0));
    launch(worker, worker->stream, 100);
    require(worker, api.cuEventRecord(worker->joined, worker->stream));
    return NULL;
}

static void in_all_threads(void *(*function)(void *))
{
    for (unsigned i = 0; i < THREADS_COUNT; i++) {
        pthread_create(&workers[i].thread, NULL, function, &workers[i]);
    }
    for (unsigned i = 0; i < THREADS_COUNT; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].failures == 0);
    }
}

static void one_capture(void)
{
    CUgraph graph;
    CUgraphExec exec;
    size_t count = 0;

    printf("# one capture over the streams of all threads\n");
    SUCCEED(api.cuStreamCreate(&shared_origin, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuEventCreate(&shared_fork, CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < THREADS_COUNT; i++) {
        SUCCEED(api.cuEventCreate(&workers[i].joined, CU_EVENT_DISABLE_TIMING));
    }
    SUCCEED(api.cuStreamBeginCapture(shared_origin, CU_STREAM_CAPTURE_MODE_RELAXED));
    SUCCEED(api.cuEventRecord(shared_fork, shared_origin));
    in_all_threads(take_part);
    for (unsigned i = 0; i < THREADS_COUNT; i++) {
        SUCCEED(api.cuStreamWaitEvent(shared_origin, workers[i].joined, 0));
    }
    SUCCEED(api.cuStreamEndCapture(shared_origin, &graph));
    SUCCEED(api.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == THREADS_COUNT);
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch_graph(exec, shared_origin, 3);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
    launched("three", 100, 3 * THREADS_COUNT, 3 * THREADS_COUNT);
}

int main(void)
{
    kernels = kernels_load();
    printf("# own graphs in each of %d threads\n", THREADS_COUNT);
    for (unsigned i = 0; i < THREADS_COUNT; i++) {
        workers[i].index = i;
    }
    in_all_threads(own_graphs);
    for (unsigned i = 0; i < THREADS_COUNT; i++) {
        CHECK(workers[i].host_calls == 2 * ROUNDS);
        launched("three", i + 1, 4 * ROUNDS, 4 * ROUNDS);
    }
    one_capture();
    SUCCEED(api.cuCtxSynchronize());
    return conformance_end();
}
