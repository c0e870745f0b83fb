/* A server as a GPU sees it: threads that answer requests at a steady pace. Each request launches kernels in
 * shapes of its own, replays graphs, captures one anew now and then, and now and then loads its code again:
 *   server THREADS SECONDS REQUESTS_PER_SECOND
 * Prints the launches it made, graph replays counted kernel by kernel. */
#include "tests/cases/clients/client.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

enum {
    MOST_THREADS = 64,
    SHAPES = 500,
    BATCHES = 32,
    EAGER_LAUNCHES = 12,
    GRAPH_KERNELS = 6,
    REPLAYS = 2,
    REQUESTS_PER_CAPTURE = 20,
    REQUESTS_PER_RELOAD = 500
};

struct worker {
    pthread_t thread;
    uint64_t random, launches;
    CUstream stream;
    CUmodule module;
    CUfunction scale, offset;
    CUgraphExec exec;
};

static CUcontext context;
static CUdeviceptr memory;
static uint64_t end_ns, pause_ns;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* xorshift64 */
static unsigned below(struct worker *worker, unsigned bound)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return (unsigned)(worker->random >> 33) % bound;
}

static void launch(struct worker *worker, CUfunction function, unsigned grid, unsigned block)
{
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, block * 4, worker->stream, values, NULL));
}

static void load_code(struct worker *worker)
{
    CHECK(cuModuleLoad(&worker->module, client_image()));
    CHECK(cuModuleGetFunction(&worker->scale, worker->module, "scale"));
    CHECK(cuModuleGetFunction(&worker->offset, worker->module, "offset"));
}

static void drop_graph(struct worker *worker)
{
    if (worker->exec) {
        CHECK(cuStreamSynchronize(worker->stream));
        CHECK(cuGraphExecDestroy(worker->exec));
        worker->exec = NULL;
    }
}

static void capture_graph(struct worker *worker)
{
    CUgraph graph;
    unsigned batch = below(worker, BATCHES) + 1;
    drop_graph(worker);
    CHECK(cuStreamBeginCapture_v2(worker->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (unsigned i = 0; i < GRAPH_KERNELS; i++) {
        launch(worker, i % 2 ? worker->offset : worker->scale, batch * 4 + i, 256);
    }
    CHECK(cuStreamEndCapture(worker->stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&worker->exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
}

static void reload_code(struct worker *worker)
{
    drop_graph(worker);
    CHECK(cuModuleUnload(worker->module));
    load_code(worker);
    capture_graph(worker);
}

static void answer(struct worker *worker, uint64_t request)
{
    if (request % REQUESTS_PER_RELOAD == 0) {
        reload_code(worker);
    } else if (request % REQUESTS_PER_CAPTURE == 0) {
        capture_graph(worker);
    }
    for (unsigned i = 0; i < EAGER_LAUNCHES; i++) {
        launch(worker, i % 2 ? worker->offset : worker->scale, below(worker, SHAPES) + 1, 128);
    }
    for (unsigned i = 0; i < REPLAYS; i++) {
        CHECK(cuGraphLaunch(worker->exec, worker->stream));
    }
    worker->launches += EAGER_LAUNCHES + REPLAYS * GRAPH_KERNELS;
}

static void *serve(void *argument)
{
    struct worker *worker = argument;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&worker->stream, CU_STREAM_NON_BLOCKING));
    load_code(worker);
    capture_graph(worker);
    for (uint64_t request = 1; now_ns() < end_ns; request++) {
        answer(worker, request);
        nanosleep(&(struct timespec){.tv_nsec = (long)pause_ns}, NULL);
    }
    return NULL;
}

int main(int arguments, char **argument)
{
    static struct worker worker[MOST_THREADS];
    CUdevice device;
    unsigned threads = arguments > 3 ? (unsigned)atoi(argument[1]) : 0;
    if (threads == 0 || threads > MOST_THREADS || atoi(argument[3]) <= 0) {
        fprintf(stderr, "usage: server THREADS SECONDS REQUESTS_PER_SECOND\n");
        return 2;
    }
    end_ns = now_ns() + strtoull(argument[2], NULL, 10) * 1000000000u;
    pause_ns = 999999999u / strtoull(argument[3], NULL, 10);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate_v2(&context, 0, device));
    CHECK(cuMemAlloc_v2(&memory, 1 << 20));
    for (unsigned i = 0; i < threads; i++) {
        worker[i].random = 0x9e3779b97f4a7c15u * (i + 1);
        pthread_create(&worker[i].thread, NULL, serve, &worker[i]);
    }
    uint64_t launches = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(worker[i].thread, NULL);
        launches += worker[i].launches;
    }
    printf("%llu\n", (unsigned long long)launches);
    return 0;
}
