/* A walk of random steps through all that launches and all that changes what a launch means: code that comes
 * and goes, graphs that are built, captured, cloned, nested, instantiated, changed, updated, switched off and
 * replayed, failures among them. Linked against libcuda; several threads walk at once, each with objects of
 * its own, on all devices.
 *
 * chaos SEED STEPS THREADS: prints a checksum of all result codes of each thread */
#include "client.h"

#include <pthread.h>
#include <stdint.h>

enum { MOST_THREADS = 16, GRAPHS = 6, NODES = 8, EXECS = 6, MODULES = 3, STREAMS = 3 };

struct graph {
    CUgraph graph;
    unsigned count;
    CUgraphNode node[NODES];
    CUgraphNodeType type[NODES];
};

struct exec {
    CUgraphExec exec;
    struct graph from; /* nodes by which it may be changed */
};

struct walker {
    uint64_t random;
    uint64_t checksum;
    unsigned steps;
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    CUstream stream[STREAMS];
    CUevent event;
    CUmodule module[MODULES];
    CUlibrary library;
    CUkernel kernel;
    CUfunction function[MODULES][2];
    struct graph graph[GRAPHS];
    struct exec exec[EXECS];
    float factor;
    void *values[2];
};

static unsigned pick(struct walker *walker, unsigned below)
{
    walker->random ^= walker->random << 13;
    walker->random ^= walker->random >> 7;
    walker->random ^= walker->random << 17;
    return (unsigned)(walker->random >> 33) % below;
}

static bool note(struct walker *walker, CUresult result)
{
    walker->checksum = walker->checksum * 1000003 + (uint64_t)result;
    return result == CUDA_SUCCESS;
}

static CUfunction any_function(struct walker *walker)
{
    unsigned which = pick(walker, MODULES * 2 + 1);
    return which == MODULES * 2 ? (CUfunction)walker->kernel : walker->function[which / 2][which % 2];
}

/* Module 0 and the library stay, since graphs refer to them; the others come and go. */
static CUfunction lasting_function(struct walker *walker)
{
    unsigned which = pick(walker, 3);
    return which == 2 ? (CUfunction)walker->kernel : walker->function[0][which];
}

static CUstream any_stream(struct walker *walker)
{
    unsigned which = pick(walker, STREAMS + 1);
    return which == STREAMS ? NULL : walker->stream[which];
}

/* Some of these are refused: blocks that are too large, grids of nothing. */
static const unsigned blocks[] = {32, 64, 96, 128, 1024, 2048}, grids[] = {1, 2, 3, 5, 8, 13, 0};
#define ANY(walker, list) list[pick(walker, sizeof(list) / sizeof *(list))]

static void launch_on(struct walker *walker, CUfunction function, CUstream stream)
{
    unsigned grid = ANY(walker, grids), block = ANY(walker, blocks), shared = pick(walker, 3) * 512;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = {.gridDimX = grid * 2,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = block,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = shared,
                             .hStream = stream,
                             .attrs = &attribute,
                             .numAttrs = pick(walker, 2)};
    switch (pick(walker, 6)) {
    case 0:
        note(walker, cuLaunchKernelEx(&config, function, walker->values, NULL));
        break;
    case 1:
        note(walker,
             cuLaunchCooperativeKernel(function, grid, 1, 1, block, 1, 1, shared, stream, walker->values));
        break;
    case 2:
        note(walker,
             cuLaunchKernel_ptsz(function, grid, 1, 1, block, 1, 1, shared, stream, walker->values, NULL));
        break;
    default:
        note(walker, cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, walker->values, NULL));
    }
}

static void launch(struct walker *walker)
{
    launch_on(walker, any_function(walker), any_stream(walker));
}

static CUDA_KERNEL_NODE_PARAMS_v2 kernel_parameters(struct walker *walker)
{
    CUDA_KERNEL_NODE_PARAMS_v2 parameters = {.gridDimX = ANY(walker, grids),
                                             .gridDimY = 1,
                                             .gridDimZ = 1,
                                             .blockDimX = ANY(walker, blocks),
                                             .blockDimY = 1,
                                             .blockDimZ = 1,
                                             .sharedMemBytes = pick(walker, 3) * 512,
                                             .kernelParams = walker->values};
    if (pick(walker, 4) == 0) {
        parameters.kern = walker->kernel;
    } else {
        parameters.func = lasting_function(walker);
    }
    return parameters;
}

static struct graph *any_graph(struct walker *walker)
{
    return &walker->graph[pick(walker, GRAPHS)];
}

static void add_node(struct walker *walker, struct graph *graph)
{
    CUgraphNode *node = &graph->node[graph->count], *after = graph->count ? node - 1 : NULL;
    size_t dependencies = after && pick(walker, 2) ? 1 : 0;
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = kernel_parameters(walker);
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = walker->memory, .elementSize = 4, .width = 16, .height = 1};
    struct graph *child = any_graph(walker);
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
    CUresult result;
    switch (pick(walker, 8)) {
    case 0:
        type = CU_GRAPH_NODE_TYPE_EMPTY;
        result = cuGraphAddEmptyNode(node, graph->graph, after, dependencies);
        break;
    case 1:
        type = CU_GRAPH_NODE_TYPE_MEMSET;
        result = cuGraphAddMemsetNode(node, graph->graph, after, dependencies, &fill, walker->context);
        break;
    case 2:
        type = CU_GRAPH_NODE_TYPE_GRAPH;
        result = child->graph && child != graph
                     ? cuGraphAddChildGraphNode(node, graph->graph, after, dependencies, child->graph)
                     : CUDA_ERROR_INVALID_VALUE;
        break;
    default:
        result = cuGraphAddKernelNode_v2(node, graph->graph, after, dependencies, &kernel);
    }
    if (note(walker, result)) {
        graph->type[graph->count++] = type;
    }
}

static void drop_graph(struct walker *walker, struct graph *graph)
{
    for (unsigned i = 0; graph->graph && i < EXECS;
         i++) { /* by its nodes no executable graph is changed any more */
        struct graph *from = &walker->exec[i].from;
        from->count = from->graph == graph->graph ? 0 : from->count;
    }
    if (graph->graph) {
        note(walker, cuGraphDestroy(graph->graph));
    }
    *graph = (struct graph){0};
}

static void build_graph(struct walker *walker)
{
    struct graph *graph = any_graph(walker);
    drop_graph(walker, graph);
    if (note(walker, cuGraphCreate(&graph->graph, 0))) {
        for (unsigned nodes = 1 + pick(walker, NODES - 1); nodes && graph->count < NODES; nodes--) {
            add_node(walker, graph);
        }
    }
}

static void grow_graph(struct walker *walker)
{
    struct graph *graph = any_graph(walker);
    if (graph->graph && graph->count < NODES) {
        add_node(walker, graph);
    }
}

static void clone_graph(struct walker *walker)
{
    struct graph *from = any_graph(walker), *to = any_graph(walker);
    if (from->graph && from != to) {
        drop_graph(walker, to);
        if (note(walker, cuGraphClone(&to->graph, from->graph))) {
            for (to->count = 0; to->count < from->count; to->count++) {
                to->type[to->count] = from->type[to->count];
                CHECK(cuGraphNodeFindInClone(&to->node[to->count], from->node[to->count], to->graph));
            }
        }
    }
}

static struct exec *any_exec(struct walker *walker)
{
    return &walker->exec[pick(walker, EXECS)];
}

static void drop_exec(struct walker *walker)
{
    struct exec *exec = any_exec(walker);
    if (exec->exec) {
        note(walker, cuGraphExecDestroy(exec->exec));
    }
    exec->exec = NULL;
}

static void instantiate(struct walker *walker)
{
    struct graph *graph = any_graph(walker);
    struct exec *exec = any_exec(walker);
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {.flags = 0};
    CUgraphExec made = NULL;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (graph->graph == NULL) {
        return;
    }
    switch (pick(walker, 4)) {
    case 0:
        result = cuGraphInstantiate_v2(&made, graph->graph, NULL, NULL, 0);
        break;
    case 1:
        result = cuGraphInstantiateWithParams(&made, graph->graph, &parameters);
        break;
    case 2:
        result = cuGraphInstantiateWithParams_ptsz(&made, graph->graph, &parameters);
        break;
    default:
        result = cuGraphInstantiateWithFlags(&made, graph->graph, 0);
    }
    if (note(walker, result)) {
        if (exec->exec) {
            note(walker, cuGraphExecDestroy(exec->exec));
        }
        *exec = (struct exec){made, *graph};
    }
}

static void replay(struct walker *walker)
{
    struct exec *exec = any_exec(walker);
    CUstream stream = any_stream(walker);
    for (unsigned times = exec->exec ? 1 + pick(walker, 4) : 0; times; times--) {
        note(walker,
             pick(walker, 3) ? cuGraphLaunch(exec->exec, stream) : cuGraphLaunch_ptsz(exec->exec, stream));
    }
}

static void change_node(struct walker *walker)
{
    struct exec *exec = any_exec(walker);
    if (exec->exec == NULL || exec->from.count == 0) {
        return;
    }
    unsigned which = pick(walker, exec->from.count);
    CUgraphNode node = exec->from.node[which];
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = kernel_parameters(walker);
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    struct graph *child = any_graph(walker);
    if (exec->from.type[which] == CU_GRAPH_NODE_TYPE_GRAPH) {
        if (child->graph) {
            note(walker, cuGraphExecChildGraphNodeSetParams(exec->exec, node, child->graph));
        }
        return;
    }
    switch (pick(walker, 4)) {
    case 0:
        any.kernel.func = kernel.func;
        any.kernel.kern = kernel.kern;
        any.kernel.gridDimX = kernel.gridDimX;
        any.kernel.blockDimX = kernel.blockDimX;
        any.kernel.gridDimY = any.kernel.gridDimZ = any.kernel.blockDimY = any.kernel.blockDimZ = 1;
        any.kernel.kernelParams = walker->values;
        note(walker, cuGraphExecNodeSetParams(exec->exec, node, &any));
        break;
    case 1:
        note(walker, cuGraphNodeSetEnabled(exec->exec, node, pick(walker, 2)));
        break;
    default:
        note(walker, cuGraphExecKernelNodeSetParams_v2(exec->exec, node, &kernel));
    }
}

static void update(struct walker *walker)
{
    struct exec *exec = any_exec(walker);
    struct graph *graph = any_graph(walker);
    CUgraphExecUpdateResultInfo info = {0};
    if (exec->exec && graph->graph) {
        note(walker, cuGraphExecUpdate_v2(exec->exec, graph->graph, &info));
    }
}

/* Onto a second stream by an event and back, or not back: then the capture fails. */
static void fork_capture(struct walker *walker)
{
    CUstream main = walker->stream[0], side = walker->stream[1];
    note(walker, cuEventRecord(walker->event, main));
    note(walker, cuStreamWaitEvent(side, walker->event, 0));
    launch_on(walker, lasting_function(walker), side);
    if (pick(walker, 8)) {
        note(walker, cuEventRecord(walker->event, side));
        note(walker, cuStreamWaitEvent(main, walker->event, 0));
    }
}

static void capture(struct walker *walker)
{
    struct graph *graph = any_graph(walker);
    struct exec *exec = any_exec(walker);
    CUstream main = walker->stream[0];
    drop_graph(walker, graph);
    if (!note(walker, pick(walker, 2) ? cuStreamBeginCapture_v2(main, CU_STREAM_CAPTURE_MODE_RELAXED)
                                      : cuStreamBeginCapture_v2_ptsz(main, CU_STREAM_CAPTURE_MODE_RELAXED))) {
        return;
    }
    for (unsigned steps = pick(walker, 5); steps; steps--) {
        launch_on(walker, lasting_function(walker), main);
        if (pick(walker, 3) == 0) {
            fork_capture(walker);
        }
        if (pick(walker, 3) == 0) {
            launch_on(walker, any_function(walker), walker->stream[2]);
        }
        if (exec->exec && pick(walker, 4) == 0) {
            note(walker, cuGraphLaunch(exec->exec, main));
        }
    }
    note(walker, pick(walker, 2) ? cuStreamEndCapture(main, &graph->graph)
                                 : cuStreamEndCapture_ptsz(main, &graph->graph));
}

static void load(struct walker *walker, unsigned which)
{
    CHECK(cuModuleLoad(&walker->module[which], client_image()));
    CHECK(cuModuleGetFunction(&walker->function[which][0], walker->module[which], "scale"));
    CHECK(cuModuleGetFunction(&walker->function[which][1], walker->module[which], "offset"));
}

static void reload(struct walker *walker)
{
    unsigned which = 1 + pick(walker, MODULES - 1);
    note(walker, cuModuleUnload(walker->module[which]));
    load(walker, which);
}

static void set_attribute(struct walker *walker)
{
    unsigned value = pick(walker, 5) * 25;
    if (pick(walker, 3)) {
        note(walker, cuFuncSetAttribute(walker->function[pick(walker, MODULES)][pick(walker, 2)],
                                        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, (int)value));
    } else {
        note(walker, cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)value * 512,
                                          walker->kernel, walker->device));
    }
}

static void synchronize(struct walker *walker)
{
    note(walker, cuStreamSynchronize(walker->stream[pick(walker, STREAMS)]));
}

static void open_walker(struct walker *walker)
{
    CHECK(cuDevicePrimaryCtxRetain(&walker->context, walker->device));
    CHECK(cuCtxSetCurrent(walker->context));
    CHECK(cuMemAlloc_v2(&walker->memory, 1 << 20));
    CHECK(cuEventCreate(&walker->event, CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < STREAMS; i++) {
        CHECK(cuStreamCreate(&walker->stream[i], CU_STREAM_NON_BLOCKING));
    }
    for (unsigned i = 0; i < MODULES; i++) {
        load(walker, i);
    }
    CHECK(cuLibraryLoadFromFile(&walker->library, client_image(), NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&walker->kernel, walker->library, "offset"));
    walker->factor = 2;
    walker->values[0] = &walker->memory;
    walker->values[1] = &walker->factor;
}

static void *walk(void *argument)
{
    static void (*const step[])(struct walker *) = {
        launch,      launch,    launch, build_graph,   grow_graph,  clone_graph, instantiate,
        instantiate, replay,    replay, replay,        change_node, change_node, update,
        capture,     drop_exec, reload, set_attribute, synchronize,
    };
    struct walker *walker = argument;
    open_walker(walker);
    for (unsigned i = 0; i < walker->steps; i++) {
        ANY(walker, step)(walker);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    static struct walker walkers[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    int devices;
    if (count < 4) {
        return 2;
    }
    unsigned number = (unsigned)strtoul(arguments[3], NULL, 10);
    number = number < MOST_THREADS ? number : MOST_THREADS;
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&devices));
    for (unsigned i = 0; i < number; i++) {
        walkers[i].random = strtoull(arguments[1], NULL, 10) * 2654435761u + i + 1;
        CHECK(cuDeviceGet(&walkers[i].device, (int)i % devices));
        walkers[i].steps = (unsigned)strtoul(arguments[2], NULL, 10);
        pthread_create(&threads[i], NULL, walk, &walkers[i]);
    }
    for (unsigned i = 0; i < number; i++) {
        pthread_join(threads[i], NULL);
        printf("%016llx\n", (unsigned long long)walkers[i].checksum);
    }
    return 0;
}
