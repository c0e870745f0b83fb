/* Threads that launch into several streams, and replay a graph of two kernels: streams THREADS ROUNDS
 * [TIMES]. A round launches grid 1 into the default stream, grid 2 into the thread's own, grid 3 into both,
 * and the graph (grids 4 and 5) into the thread's own. TIMES over (once if not given), as many new threads do
 * it. */
#include "client.h"

#include <pthread.h>

enum { MOST_THREADS = 256 };

static CUcontext context;
static CUfunction scale;
static CUdeviceptr memory;
static unsigned long rounds;
static pthread_barrier_t all_launched; /* before that no thread takes over what another left */

static void launch(unsigned grid, CUstream stream)
{
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(cuLaunchKernel(scale, grid, 1, 1, 64, 1, 1, 0, stream, values, NULL));
}

static CUgraphExec graph_of_two(CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(4, stream);
    launch(5, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

static void *launch_all(void *unused)
{
    CUstream stream;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = graph_of_two(stream);
    for (unsigned long i = 0; i < rounds; i++) {
        launch(1, NULL);
        launch(2, stream);
        launch(3, stream);
        launch(3, NULL);
        CHECK(cuGraphLaunch(exec, stream));
    }
    pthread_barrier_wait(&all_launched);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuStreamDestroy_v2(stream));
    return unused;
}

int main(int arguments, char **argument)
{
    pthread_t thread[MOST_THREADS];
    unsigned threads = arguments > 1 ? (unsigned)atoi(argument[1]) : 1;
    rounds = arguments > 2 ? strtoul(argument[2], NULL, 10) : 1;
    unsigned long times = arguments > 3 ? strtoul(argument[3], NULL, 10) : 1;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    client_open(&context, &memory, &scale);
    pthread_barrier_init(&all_launched, NULL, threads);
    while (times--) {
        for (unsigned i = 0; i < threads; i++) {
            pthread_create(&thread[i], NULL, launch_all, NULL);
        }
        for (unsigned i = 0; i < threads; i++) {
            pthread_join(thread[i], NULL);
        }
    }
    return 0;
}
