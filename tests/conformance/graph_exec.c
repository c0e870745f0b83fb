/* Executable graphs: the ways to instantiate one, and what a launch runs: every kernel of it once, those of
 * child graphs too, disabled ones not, and the rest in an order that the edges allow. */
#include "graph_support.h"

static struct kernels kernels;
static CUdeviceptr memory;
static CUstream stream;

static void instantiate_forms(void)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    cuuint64_t flags;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                                .hUploadStream = stream};
    CUresult (*with_log)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t) = (CUresult(*)(
        CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t))conformance_symbol("cuGraphInstantiate_v2");
    char log[16] = "x";

    printf("# instantiate in each form, launch each 3 times\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    node = add_kernel(graph, NULL, kernels.three, 1);

    SUCCEED(with_log(&exec, graph, &node, log, sizeof(log)));
    launch_graph(exec, stream, 3);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    launch_graph(exec, NULL, 3);
    SUCCEED(api.cuGraphExecGetFlags(exec, &flags));
    CHECK(flags == CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphInstantiateWithParams(&exec, graph, &parameters));
    CHECK(parameters.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
    SUCCEED(api.cuGraphUpload(exec, stream));
    SUCCEED(api.cuGraphDestroy(graph));
    launch_graph(exec, CU_STREAM_PER_THREAD, 3);
    SUCCEED(api.cuGraphExecDestroy(exec));
    launched("three", 1, 9, 9);
}

static void instantiate_refusals(void)
{
    CUgraph graph;
    CUgraphNode node[2];
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {0};

    printf("# what cannot be instantiated\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphInstantiateWithFlags(&exec, graph, 0x1000));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphInstantiateWithFlags(&exec, NULL, 0));
    parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    SUCCEED(api.cuGraphAddEmptyNode(&node[0], graph, NULL, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphInstantiateWithParams(&exec, graph, &parameters));
    CHECK(parameters.result_out == CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    CHECK(parameters.hErrNode_out == node[0]);
    SUCCEED(api.cuGraphAddEmptyNode(&node[1], graph, &node[0], 1));
    SUCCEED(api.cuGraphAddDependencies(graph, &node[1], &node[0], NULL, 1));
    parameters.flags = 0;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphInstantiateWithParams(&exec, graph, &parameters));
    CHECK(parameters.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    CHECK(parameters.hErrNode_out != NULL);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphLaunch(NULL, stream));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void children(void)
{
    CUgraph outer, middle, inner, inside;
    CUgraphNode kernel, child, nested;
    CUgraphExec exec;
    size_t one = 1;

    printf("# child graphs in child graphs: 1 + 2 + 4 kernels, launched 5 times\n");
    SUCCEED(api.cuGraphCreate(&inner, 0));
    for (int i = 0; i < 4; i++) {
        kernel = add_kernel(inner, NULL, kernels.three, 4);
    }
    SUCCEED(api.cuGraphCreate(&middle, 0));
    kernel = add_kernel(middle, NULL, kernels.three, 2);
    kernel = add_kernel(middle, &kernel, kernels.three, 2);
    SUCCEED(api.cuGraphAddChildGraphNode(&child, middle, &kernel, 1, inner));
    SUCCEED(api.cuGraphCreate(&outer, 0));
    kernel = add_kernel(outer, NULL, kernels.plain, 1);
    SUCCEED(api.cuGraphAddChildGraphNode(&child, outer, &kernel, 1, middle));
    /* The child graph was copied: changing the original has no effect. */
    SUCCEED(api.cuGraphDestroy(middle));
    SUCCEED(api.cuGraphDestroy(inner));
    SUCCEED(api.cuGraphChildGraphNodeGetGraph(child, &inside));
    SUCCEED(api.cuGraphGetRootNodes(inside, &nested, &one));
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, outer, 0));
    launch_graph(exec, stream, 5);
    SUCCEED(api.cuGraphDestroy(outer));
    SUCCEED(api.cuGraphExecDestroy(exec));
    launched("plain", 1, 5, 5);
    launched("three", 2, 10, 10);
    launched("three", 4, 20, 20);
}

static void disabled_nodes(void)
{
    CUgraph graph;
    CUgraphNode first, second, empty;
    CUgraphExec exec;
    unsigned enabled;

    printf("# disabled nodes: of two kernels one is off for 2 of 5 launches\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    first = add_kernel(graph, NULL, kernels.three, 6);
    second = add_kernel(graph, &first, kernels.three, 7);
    SUCCEED(api.cuGraphAddEmptyNode(&empty, graph, &second, 1));
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuGraphNodeSetEnabled(exec, second, 0));
    SUCCEED(api.cuGraphNodeGetEnabled(exec, second, &enabled));
    CHECK(enabled == 0);
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuGraphNodeSetEnabled(exec, second, 1));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphNodeSetEnabled(exec, empty, 0));
    launched("three", 6, 5, 5);
    launched("three", 7, 3, 3);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void double_number(void *data)
{
    *(int *)data *= 2;
}

/* fill 3 -> copy to host -> double on the host -> copy back -> record */
static void order_of_work(void)
{
    int *number = NULL;
    unsigned result = 0;
    CUgraph graph;
    CUgraphNode fill, down, host, up, record;
    CUgraphExec exec;
    CUevent event;
    CUDA_MEMSET_NODE_PARAMS fill_given = {
        .dst = memory, .value = 3, .elementSize = 4, .width = 1, .height = 1};
    SUCCEED(api.cuMemHostAlloc((void **)&number, sizeof(*number), 0));
    CUDA_MEMCPY3D down_given = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = memory,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = number,
                                .WidthInBytes = 4,
                                .Height = 1,
                                .Depth = 1};
    CUDA_MEMCPY3D up_given = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = number,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = memory + 4,
                              .WidthInBytes = 4,
                              .Height = 1,
                              .Depth = 1};
    CUDA_HOST_NODE_PARAMS host_given = {.fn = double_number, .userData = number};

    printf("# copies, fills and host functions run in the order of the edges\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    SUCCEED(api.cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    SUCCEED(api.cuGraphAddMemcpyNode(&up, graph, NULL, 0, &up_given, kernels.context));
    SUCCEED(api.cuGraphAddHostNode(&host, graph, NULL, 0, &host_given));
    SUCCEED(api.cuGraphAddMemcpyNode(&down, graph, NULL, 0, &down_given, kernels.context));
    SUCCEED(api.cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_given, kernels.context));
    SUCCEED(api.cuGraphAddDependencies(graph, (CUgraphNode[]){fill, down, host, up},
                                       (CUgraphNode[]){down, host, up, record}, NULL, 4));
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch_graph(exec, stream, 4);
    SUCCEED(api.cuEventSynchronize(event));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuMemcpyDtoH(&result, memory + 4, sizeof(result)));
    CHECK(*number == 6);
    CHECK(result == 6);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
    SUCCEED(api.cuEventDestroy(event));
    SUCCEED(api.cuMemFreeHost(number));
}

static void reused_handle(void)
{
    CUgraph graph;
    CUgraphExec exec;

    printf("# an executable graph made where another was\n");
    for (unsigned blocks = 30; blocks < 33; blocks++) {
        SUCCEED(api.cuGraphCreate(&graph, 0));
        add_kernel(graph, NULL, kernels.three, blocks);
        SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
        SUCCEED(api.cuGraphLaunch(exec, stream));
        SUCCEED(api.cuGraphExecDestroy(exec));
        SUCCEED(api.cuGraphDestroy(graph));
        launched("three", blocks, 1, 1);
    }
}

int main(void)
{
    kernels = kernels_load();
    memory = memory_allocate(4096);
    SUCCEED(api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    instantiate_forms();
    instantiate_refusals();
    children();
    disabled_nodes();
    order_of_work();
    reused_handle();
    SUCCEED(api.cuStreamSynchronize(stream));
    return conformance_end();
}
