/* Many threads launch at once, while others load and unload code, change attributes and update and replay
 * graphs: stress THREADS LAUNCHES. Linked against libcuda. */
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { MOST_THREADS = 256, SHAPES = 50 };

static CUcontext context;
static CUfunction scale, offset;
static CUdeviceptr memory;
static unsigned long launches;
static atomic_bool finished;

static void launch(CUfunction function, unsigned grid, unsigned block, unsigned shared_bytes)
{
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared_bytes, NULL, values, NULL));
}

static void *launch_all(void *number)
{
    unsigned block = 32u * (1 + (unsigned)(uintptr_t)number % 8);
    CHECK(cuCtxSetCurrent(context));
    for (unsigned long i = 0; i < launches; i++) {
        launch(scale, (unsigned)(i % SHAPES) + 1, block, 0);
    }
    return NULL;
}

static void *reload_all(void *unused)
{
    CHECK(cuCtxSetCurrent(context));
    while (!finished) {
        CUmodule module;
        CUfunction function;
        CHECK(cuModuleLoad(&module, client_image()));
        CHECK(cuModuleGetFunction(&function, module, "offset"));
        launch(function, 1000, 64, 256);
        CHECK(cuModuleUnload(module));
    }
    return unused;
}

static void *change_attributes(void *unused)
{
    CHECK(cuCtxSetCurrent(context));
    for (int carveout = 0; !finished; carveout = (carveout + 10) % 100) {
        CHECK(cuFuncSetAttribute(offset, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, carveout));
        launch(offset, 2000, 64, 256);
    }
    return unused;
}

static void *change_graphs(void *unused)
{
    CUstream stream;
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    while (!finished) {
        CUgraph graph;
        CUgraphNode node;
        CUgraphExec exec;
        CUDA_KERNEL_NODE_PARAMS_v2 parameters = client_kernel_node(scale, 3000, 0, values);
        CHECK(cuGraphCreate(&graph, 0));
        CHECK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &parameters));
        CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        CHECK(cuGraphLaunch(exec, stream));
        parameters.gridDimX = 3001;
        CHECK(cuGraphExecKernelNodeSetParams_v2(exec, node, &parameters));
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        CHECK(cuLaunchKernel(scale, 3002, 1, 1, 64, 1, 1, 0, stream, values, NULL));
        CUgraph captured;
        CHECK(cuStreamEndCapture(stream, &captured));
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuGraphDestroy(captured));
        CHECK(cuGraphDestroy(graph));
    }
    return unused;
}

int main(int arguments, char **argument)
{
    pthread_t thread[MOST_THREADS], other[3];
    unsigned threads = arguments > 1 ? (unsigned)atoi(argument[1]) : 1;
    launches = arguments > 2 ? strtoul(argument[2], NULL, 10) : 1;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    CUmodule module = client_open(&context, &memory, &scale);
    CHECK(cuModuleGetFunction(&offset, module, "offset"));
    pthread_create(&other[0], NULL, reload_all, NULL);
    pthread_create(&other[1], NULL, change_attributes, NULL);
    pthread_create(&other[2], NULL, change_graphs, NULL);
    for (unsigned i = 0; i < threads; i++) {
        pthread_create(&thread[i], NULL, launch_all, (void *)(uintptr_t)i);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    finished = true;
    for (int i = 0; i < 3; i++) {
        pthread_join(other[i], NULL);
    }
    return 0;
}
