/* Executable graphs: what replays launch, and everything that changes it. Linked against libcuda. The kernels
 * are told apart by their grids. */
#include "client.h"

#include <pthread.h>

static CUfunction scale, offset;
static CUdeviceptr memory;
static CUstream stream;
static CUcontext context;
static float factor = 2;
static void *values[] = {&memory, &factor};

static void open_device(void)
{
    CUmodule module = client_open(&context, &memory, &scale);
    CHECK(cuModuleGetFunction(&offset, module, "offset"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void launch(CUstream in, unsigned grid)
{
    CHECK(cuLaunchKernel(scale, grid, 1, 1, 64, 1, 1, 0, in, values, NULL));
}

static CUgraphNode add_kernel(CUgraph graph, CUfunction function, unsigned grid)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS_v2 parameters =
        client_kernel_node(function, grid, function == offset ? 256 : 0, values);
    CHECK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &parameters));
    return node;
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void replay(CUgraphExec exec, int times)
{
    for (int i = 0; i < times; i++) {
        CHECK(cuGraphLaunch(exec, stream));
    }
    CHECK(cuStreamSynchronize(stream));
}

/* Three kernels, one of them on a stream that joins by an event; five replays. */
static void capture(void)
{
    CUstream forked;
    CUevent fork, join;
    CUgraph graph;
    CHECK(cuStreamCreate(&forked, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(stream, 1);
    CHECK(cuEventRecord(fork, stream));
    CHECK(cuStreamWaitEvent(forked, fork, 0));
    launch(forked, 2);
    launch(stream, 3);
    CHECK(cuEventRecord(join, forked));
    CHECK(cuStreamWaitEvent(stream, join, 0));
    CHECK(cuStreamEndCapture(stream, &graph));
    launch(stream, 4);
    replay(instantiate(graph), 5);
}

/* Nothing but a capture: no launch at all. */
static void capture_only(void)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(stream, 1);
    CHECK(cuStreamEndCapture(stream, &graph));
    instantiate(graph);
}

/* While one stream is captured, another one runs; some of it is new by then. */
static void beside_capture(void)
{
    CUstream other;
    CUgraph graph;
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    launch(other, 1);
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(stream, 2);
    launch(other, 1);
    launch(other, 3);
    launch(other, 3);
    CHECK(cuLaunchKernel(offset, 4, 1, 1, 64, 1, 1, 256, other, values, NULL));
    CHECK(cuStreamEndCapture(stream, &graph));
    launch(other, 3);
    CHECK(cuLaunchKernel(offset, 5, 1, 1, 64, 1, 1, 256, other, values, NULL));
    replay(instantiate(graph), 2);
}

/* A capture that goes wrong is over too. */
static void broken_capture(void)
{
    CUgraph graph = NULL;
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(stream, 1);
    printf("%d\n", cuStreamSynchronize(stream) != CUDA_SUCCESS);
    printf("%d\n", cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS);
    launch(stream, 2);
    launch(stream, 2);
}

static void capture_a_replay(void)
{
    CUgraph inner, outer;
    CHECK(cuGraphCreate(&inner, 0));
    add_kernel(inner, scale, 1);
    CUgraphExec exec = instantiate(inner);
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuGraphLaunch(exec, stream));
    launch(stream, 2);
    CHECK(cuStreamEndCapture(stream, &outer));
    replay(instantiate(outer), 3);
}

static void child_and_disabled(void)
{
    CUgraph graph, child, grandchild;
    CUgraphNode child_node, node;
    CHECK(cuGraphCreate(&grandchild, 0));
    add_kernel(grandchild, scale, 1);
    CHECK(cuGraphCreate(&child, 0));
    add_kernel(child, scale, 2);
    CHECK(cuGraphAddChildGraphNode(&node, child, NULL, 0, grandchild));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&child_node, graph, NULL, 0, child));
    node = add_kernel(graph, offset, 3);
    CUgraphExec exec = instantiate(graph);
    replay(exec, 2);
    CHECK(cuGraphNodeSetEnabled(exec, node, 0));
    replay(exec, 3);
    CHECK(cuGraphNodeSetEnabled(exec, node, 1));
    replay(exec, 4);
}

static void set_parameters(void)
{
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_kernel(graph, scale, 1);
    add_kernel(graph, scale, 2);
    CUgraphExec exec = instantiate(graph);
    replay(exec, 2);
    CUDA_KERNEL_NODE_PARAMS_v2 changed = client_kernel_node(offset, 3, 512, values);
    CHECK(cuGraphExecKernelNodeSetParams_v2(exec, node, &changed));
    replay(exec, 3);
    CUDA_KERNEL_NODE_PARAMS_v1 older;
    changed = client_kernel_node(scale, 4, 0, values);
    memcpy(&older, &changed, sizeof older);
    CHECK(cuGraphExecKernelNodeSetParams(exec, node, &older));
    replay(exec, 4);
    changed.gridDimX = 0;
    printf("%d\n", cuGraphExecKernelNodeSetParams_v2(exec, node, &changed) != CUDA_SUCCESS);
    replay(exec, 5);
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    changed = client_kernel_node(scale, 5, 0, values);
    memcpy(&any.kernel, &changed, sizeof changed);
    CHECK(cuGraphExecNodeSetParams(exec, node, &any));
    replay(exec, 6);
}

static void set_child(void)
{
    CUgraph graph, child, other;
    CUgraphNode node;
    CHECK(cuGraphCreate(&child, 0));
    add_kernel(child, scale, 1);
    add_kernel(child, scale, 2);
    CHECK(cuGraphCreate(&other, 0));
    add_kernel(other, scale, 3);
    add_kernel(other, scale, 2);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    add_kernel(graph, scale, 4);
    CUgraphExec exec = instantiate(graph);
    replay(exec, 2);
    CHECK(cuGraphExecChildGraphNodeSetParams(exec, node, other));
    replay(exec, 3);
}

static void update(void)
{
    CUgraph graph, same, different;
    CUgraphExecUpdateResultInfo info;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_kernel(graph, scale, 1);
    add_kernel(graph, offset, 2);
    CUgraphExec exec = instantiate(graph);
    replay(exec, 2);
    CHECK(cuGraphCreate(&same, 0));
    add_kernel(same, scale, 3);
    add_kernel(same, offset, 4);
    CHECK(cuGraphExecUpdate_v2(exec, same, &info));
    replay(exec, 3);
    CHECK(cuGraphCreate(&different, 0));
    add_kernel(different, scale, 5);
    printf("%d\n", cuGraphExecUpdate_v2(exec, different, &info) != CUDA_SUCCESS);
    replay(exec, 4);
    CUDA_KERNEL_NODE_PARAMS_v2 changed = client_kernel_node(scale, 6, 0, values);
    CHECK(cuGraphExecKernelNodeSetParams_v2(exec, node, &changed));
    replay(exec, 5);
}

/* Graphs come and go until an address is used again, and for a while after. */
static void reuse(void)
{
    CUgraphExec first = NULL, exec;
    int again = 0;
    for (unsigned grid = 1; grid <= 64; grid++) {
        CUgraph graph;
        CHECK(cuGraphCreate(&graph, 0));
        add_kernel(graph, scale, grid);
        exec = instantiate(graph);
        again += exec == first;
        first = first ? first : exec;
        replay(exec, 1);
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuGraphDestroy(graph));
    }
    printf("%s\n", again ? "used again" : "never used again");
}

/* Of the original only the executable graph is left; a clone of another one; instantiated in the old ways. */
static void forms(void)
{
    CUgraph graph, clone;
    CUgraphExec exec;
    CUgraphNode error;
    char log[100];
    CHECK(cuGraphCreate(&graph, 0));
    add_kernel(graph, scale, 1);
    CHECK(cuGraphClone(&clone, graph));
    add_kernel(clone, scale, 2);
    CHECK(cuGraphInstantiate(&exec, graph, &error, log, sizeof log));
    CHECK(cuGraphDestroy(graph));
    replay(exec, 1);
    CHECK(cuGraphInstantiate_v2(&exec, clone, &error, log, sizeof log));
    replay(exec, 2);
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {0};
    CHECK(cuGraphInstantiateWithParams(&exec, clone, &parameters));
    replay(exec, 3);
    CHECK(cuGraphUpload(exec, stream));
    CHECK(cuGraphLaunch_ptsz(exec, NULL));
    CHECK(cuCtxSynchronize());
}

static void *replay_elsewhere(void *exec)
{
    CHECK(cuCtxSetCurrent(context));
    replay(exec, 3);
    return NULL;
}

static void other_thread(void)
{
    CUgraph graph;
    pthread_t thread;
    CHECK(cuGraphCreate(&graph, 0));
    add_kernel(graph, scale, 1);
    CUgraphExec exec = instantiate(graph);
    replay(exec, 2);
    pthread_create(&thread, NULL, replay_elsewhere, exec);
    pthread_join(thread, NULL);
}

/* What the host cannot count. */
static void conditional(void)
{
    CUgraph graph;
    CUgraphConditionalHandle handle;
    CUgraphNode node;
    CHECK(cuGraphCreate(&graph, 0));
    add_kernel(graph, scale, 1);
    CHECK(cuGraphConditionalHandleCreate(&handle, graph, context, 1, 0));
    CUgraphNodeParams parameters = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = CU_GRAPH_COND_TYPE_IF, .size = 1, .ctx = context}};
    CHECK(cuGraphAddNode(&node, graph, NULL, 0, &parameters));
    add_kernel(parameters.conditional.phGraph_out[0], scale, 2);
    replay(instantiate(graph), 4);
}

static void for_device(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuGraphCreate(&graph, 0));
    add_kernel(graph, scale, 1);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CHECK(cuGraphUpload(exec, stream));
    replay(exec, 3);
}

/* One kernel that the device may change, beside one that it may not and one in a child graph. */
static void updatable(void)
{
    CUgraph graph, child;
    CUgraphNode node;
    CUkernelNodeAttrValue value = {.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphCreate(&child, 0));
    add_kernel(graph, scale, 1);
    node = add_kernel(graph, scale, 2);
    CHECK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value));
    add_kernel(child, scale, 3);
    CHECK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    replay(instantiate(graph), 5);
}

/* More different shapes than a store keeps bodies for: a new one for each replay. */
static void endless_change(void)
{
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_kernel(graph, scale, 1);
    CUgraphExec exec = instantiate(graph);
    for (unsigned i = 0; i < 70000; i++) {
        CUDA_KERNEL_NODE_PARAMS_v2 changed = client_kernel_node(scale, i + 1, 0, values);
        CHECK(cuGraphExecKernelNodeSetParams_v2(exec, node, &changed));
        CHECK(cuGraphLaunch(exec, stream));
    }
}

static const struct scenario scenarios[] = {
    {"capture", capture},
    {"capture_only", capture_only},
    {"beside_capture", beside_capture},
    {"broken_capture", broken_capture},
    {"capture_a_replay", capture_a_replay},
    {"child_and_disabled", child_and_disabled},
    {"set_parameters", set_parameters},
    {"set_child", set_child},
    {"update", update},
    {"reuse", reuse},
    {"forms", forms},
    {"other_thread", other_thread},
    {"conditional", conditional},
    {"for_device", for_device},
    {"updatable", updatable},
    {"endless_change", endless_change},
};

int main(int arguments, char **argument)
{
    open_device();
    return RUN_SCENARIO(scenarios, arguments, argument);
}
