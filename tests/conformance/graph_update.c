/* Changing executable graphs between launches: each launch runs what was set when it was made, and a change
 * that is refused changes nothing. */
#include "graph_support.h"

static struct kernels kernels;
static CUdeviceptr memory;
static CUstream stream;

static void set_parameters(void)
{
    struct arguments arguments;
    CUgraph graph;
    CUgraphNode node, other;
    CUgraphExec exec;
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    CUresult (*set_v1)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *) =
        (CUresult(*)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *))conformance_symbol(
            "cuGraphExecKernelNodeSetParams");

    printf("# parameters of kernel nodes between launches, by each function\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    node = add_kernel(graph, NULL, kernels.three, 1);
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch_graph(exec, stream, 2);
    CUDA_KERNEL_NODE_PARAMS given = kernel_parameters(kernels.plain, 2, &arguments);
    SUCCEED(api.cuGraphExecKernelNodeSetParams(exec, node, &given));
    launch_graph(exec, stream, 3);
    CUDA_KERNEL_NODE_PARAMS_v1 given_v1 = {.func = kernels.three,
                                           .gridDimX = 3,
                                           .gridDimY = 1,
                                           .gridDimZ = 1,
                                           .blockDimX = 64,
                                           .blockDimY = 1,
                                           .blockDimZ = 1,
                                           .kernelParams = arguments.pointers};
    SUCCEED(set_v1(exec, node, &given_v1));
    launch_graph(exec, stream, 4);
    memcpy(&any.kernel, &given, sizeof(any.kernel));
    any.kernel.gridDimX = 4;
    SUCCEED(api.cuGraphExecNodeSetParams(exec, node, &any));
    launch_graph(exec, stream, 5);
    any.type = CU_GRAPH_NODE_TYPE_EMPTY;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphExecNodeSetParams(exec, node, &any));
    given.gridDimX = 0;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphExecKernelNodeSetParams(exec, node, &given));
    given.gridDimX = 5;
    other = add_kernel(graph, NULL, kernels.three, 1); /* after instantiation: not in exec */
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphExecKernelNodeSetParams(exec, other, &given));
    /* The graph itself was never changed. */
    SUCCEED(api.cuGraphKernelNodeGetParams(node, &given));
    CHECK(given.func == kernels.three && given.gridDimX == 1);
    launch_graph(exec, stream, 1);
    launched("three", 1, 2, 2);
    launched("plain", 2, 3, 3);
    launched("three", 3, 4, 4);
    launched("plain", 4, 6, 6);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

/* scale(a) -> scale(b), and a child graph with scale(c) */
static CUgraph shaped(unsigned a, unsigned b, unsigned c, CUgraphNode *child)
{
    CUgraph graph, inner;
    CUgraphNode first, second;
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphCreate(&inner, 0));
    first = add_kernel(graph, NULL, kernels.three, a);
    second = add_kernel(graph, &first, kernels.three, b);
    add_kernel(inner, NULL, kernels.three, c);
    SUCCEED(api.cuGraphAddChildGraphNode(child, graph, &second, 1, inner));
    SUCCEED(api.cuGraphDestroy(inner));
    return graph;
}

static void whole_update(void)
{
    CUgraphNode child, child_of_other, nested;
    CUgraph graph = shaped(11, 12, 13, &child), other = shaped(21, 22, 23, &child_of_other), inside;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    struct arguments arguments;
    size_t one = 1;

    printf("# update of the whole graph, child graphs included\n");
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch_graph(exec, stream, 1);
    SUCCEED(api.cuGraphExecUpdate(exec, other, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    launch_graph(exec, stream, 2);
    SUCCEED(api.cuGraphDestroy(other));
    launch_graph(exec, stream, 1);

    printf("# a node of the child graph by its own handle\n");
    SUCCEED(api.cuGraphChildGraphNodeGetGraph(child, &inside));
    SUCCEED(api.cuGraphGetNodes(inside, &nested, &one));
    CUDA_KERNEL_NODE_PARAMS given = kernel_parameters(kernels.three, 33, &arguments);
    SUCCEED(api.cuGraphExecKernelNodeSetParams(exec, nested, &given));
    launch_graph(exec, stream, 1);

    printf("# the child graph as a whole\n");
    other = shaped(1, 1, 43, &child_of_other);
    SUCCEED(api.cuGraphChildGraphNodeGetGraph(child_of_other, &inside));
    SUCCEED(api.cuGraphExecChildGraphNodeSetParams(exec, child, inside));
    launch_graph(exec, stream, 1);
    for (unsigned first = 11; first <= 21; first += 10) {
        unsigned times = first == 11 ? 1 : 5;
        launched("three", first, times, times);
        launched("three", first + 1, times, times);
    }
    launched("three", 13, 1, 1);
    launched("three", 23, 3, 3);
    launched("three", 33, 1, 1);
    launched("three", 43, 1, 1);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
    SUCCEED(api.cuGraphDestroy(other));
}

static void try_update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResult why, CUgraphNode where)
{
    CUgraphExecUpdateResultInfo info;
    EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, api.cuGraphExecUpdate(exec, graph, &info));
    CHECK(info.result == why);
    CHECK(info.errorNode == where);
    SUCCEED(api.cuGraphDestroy(graph));
    launch_graph(exec, stream, 1);
}

static void refused_updates(void)
{
    CUgraph graph, other;
    CUgraphNode a, b;
    CUgraphExec exec;
    CUlaunchAttributeValue value = {.cooperative = 1};

    printf("# updates that are refused, each followed by a launch of the old work\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    a = add_kernel(graph, NULL, kernels.three, 51);
    b = add_kernel(graph, &a, kernels.three, 52);
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));

    SUCCEED(api.cuGraphCreate(&other, 0));
    a = add_kernel(other, NULL, kernels.three, 1);
    try_update(exec, other, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL); /* too few nodes */

    SUCCEED(api.cuGraphCreate(&other, 0));
    a = add_kernel(other, NULL, kernels.three, 1);
    SUCCEED(api.cuGraphAddEmptyNode(&b, other, &a, 1));
    try_update(exec, other, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, b);

    SUCCEED(api.cuGraphCreate(&other, 0));
    a = add_kernel(other, NULL, kernels.three, 1);
    b = add_kernel(other, NULL, kernels.three, 1);
    try_update(exec, other, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, b); /* without the edge */

    SUCCEED(api.cuGraphCreate(&other, 0));
    a = add_kernel(other, NULL, kernels.three, 1);
    b = add_kernel(other, &a, kernels.three, 1);
    SUCCEED(api.cuGraphKernelNodeSetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    try_update(exec, other, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, b); /* cooperative now */
    launched("three", 51, 4, 4);
    launched("three", 52, 4, 4);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void add_one(void *data)
{
    ++*(int *)data;
}

static void other_nodes(void)
{
    static int first, second;
    CUgraph graph;
    CUgraphNode fill, host, record;
    CUgraphExec exec;
    CUevent events[2];
    unsigned values[4] = {0};
    CUDA_MEMSET_NODE_PARAMS fill_given = {
        .dst = memory, .value = 5, .elementSize = 4, .width = 4, .height = 1};
    CUDA_HOST_NODE_PARAMS host_given = {.fn = add_one, .userData = &first};

    printf("# fills, host functions and events\n");
    for (int i = 0; i < 2; i++) {
        SUCCEED(api.cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    }
    SUCCEED(api.cuMemsetD32(memory, 0, 4));
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_given, kernels.context));
    SUCCEED(api.cuGraphAddHostNode(&host, graph, &fill, 1, &host_given));
    SUCCEED(api.cuGraphAddEventRecordNode(&record, graph, &host, 1, events[0]));
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    fill_given.value = 6;
    fill_given.width = 2;
    SUCCEED(api.cuGraphExecMemsetNodeSetParams(exec, fill, &fill_given, kernels.context));
    host_given.userData = &second;
    SUCCEED(api.cuGraphExecHostNodeSetParams(exec, host, &host_given));
    SUCCEED(api.cuGraphExecEventRecordNodeSetEvent(exec, record, events[1]));
    fill_given.height = 2;
    fill_given.pitch = 64;
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           api.cuGraphExecMemsetNodeSetParams(exec, fill, &fill_given, kernels.context));
    launch_graph(exec, stream, 3);
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuMemcpyDtoH(values, memory, sizeof(values)));
    CHECK(values[1] == 6);
    CHECK(values[2] == 0);
    CHECK(first == 0);
    CHECK(second == 3);
    SUCCEED(api.cuEventQuery(events[1]));
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

int main(void)
{
    kernels = kernels_load();
    memory = memory_allocate(4096);
    SUCCEED(api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    set_parameters();
    whole_update();
    refused_updates();
    other_nodes();
    return conformance_end();
}
