/* Stream capture: what is recorded runs only when the graph does; events spread a capture over streams and
 * must bring them back. */
#include "graph_support.h"

static struct kernels kernels;
static CUdeviceptr memory;
static CUstream first, second, third;
static CUevent forked, joined;

static void replay(CUgraph graph, unsigned times)
{
    CUgraphExec exec;
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned i = 0; i < times; i++) {
        SUCCEED(api.cuGraphLaunch(exec, first));
    }
    SUCCEED(api.cuStreamSynchronize(first));
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

static size_t node_count(CUgraph graph)
{
    size_t count = 0;
    SUCCEED(api.cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static void one_stream(void)
{
    CUgraph graph;
    CUstreamCaptureStatus status;

    printf("# one stream: 3 kernels, 5 replays, none at capture\n");
    SUCCEED(api.cuStreamIsCapturing(first, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
    SUCCEED(api.cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    GUESS(CUDA_ERROR_ILLEGAL_STATE, api.cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 3; i++) {
        launch_kernel(first, kernels.three, 1);
    }
    SUCCEED(api.cuStreamIsCapturing(first, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    SUCCEED(api.cuStreamEndCapture(first, &graph));
    CHECK(node_count(graph) == 3);
    replay(graph, 5);
    launched("three", 1, 15, 15);
    GUESS(CUDA_ERROR_ILLEGAL_STATE, api.cuStreamEndCapture(first, &graph));
}

static void forked_streams(void)
{
    CUgraph graph;
    size_t count = 0;

    printf("# three streams, 4 replays\n");
    SUCCEED(api.cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_kernel(first, kernels.three, 2);
    SUCCEED(api.cuEventRecord(forked, first));
    SUCCEED(api.cuStreamWaitEvent(second, forked, 0));
    SUCCEED(api.cuStreamWaitEvent(third, forked, 0));
    launch_kernel(second, kernels.three, 3);
    launch_kernel(third, kernels.three, 4);
    launch_kernel(first, kernels.three, 5);
    SUCCEED(api.cuEventRecord(joined, second));
    SUCCEED(api.cuStreamWaitEvent(first, joined, 0));
    SUCCEED(api.cuEventRecord(joined, third));
    SUCCEED(api.cuStreamWaitEvent(first, joined, 0));
    launch_kernel(first, kernels.three, 6);
    SUCCEED(api.cuStreamEndCapture(first, &graph));
    CHECK(node_count(graph) == 5);
    SUCCEED(api.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK(count == 6);
    replay(graph, 4);
    for (unsigned blocks = 2; blocks <= 6; blocks++) {
        launched("three", blocks, 4, 4);
    }
}

static void unjoined(void)
{
    CUgraph graph = (CUgraph)1;
    CUstreamCaptureStatus status;

    printf("# a fork that does not come back\n");
    SUCCEED(api.cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SUCCEED(api.cuEventRecord(forked, first));
    SUCCEED(api.cuStreamWaitEvent(second, forked, 0));
    launch_kernel(second, kernels.three, 7);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, api.cuStreamEndCapture(first, &graph));
    CHECK(graph == NULL);
    SUCCEED(api.cuStreamIsCapturing(second, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
    launch_kernel(second, kernels.three, 7);
    launched("three", 7, 1, 0);
}

static void graph_in_capture(void)
{
    CUgraph graph, outer;
    CUgraphExec exec;
    CUgraphNode node;
    CUgraphNodeType type;
    size_t one = 1;

    printf("# a graph launched into a capture becomes a child graph\n");
    SUCCEED(api.cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_kernel(first, kernels.three, 8);
    launch_kernel(first, kernels.three, 8);
    SUCCEED(api.cuStreamEndCapture(first, &graph));
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    SUCCEED(api.cuStreamBeginCapture(second, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SUCCEED(api.cuGraphLaunch(exec, second));
    SUCCEED(api.cuStreamEndCapture(second, &outer));
    SUCCEED(api.cuGraphGetNodes(outer, &node, &one));
    SUCCEED(api.cuGraphNodeGetType(node, &type));
    CHECK(type == CU_GRAPH_NODE_TYPE_GRAPH);
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
    replay(outer, 3);
    launched("three", 8, 6, 6);
}

static void other_work(void)
{
    CUgraph graph;

    printf("# copies, fills and events outside the capture\n");
    SUCCEED(api.cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SUCCEED(api.cuMemsetD32Async(memory, 7, 16, first));
    SUCCEED(api.cuMemcpyDtoDAsync(memory + 64, memory, 64, first));
    SUCCEED(api.cuEventRecordWithFlags(joined, first, CU_EVENT_RECORD_EXTERNAL));
    SUCCEED(api.cuStreamWaitEvent(first, joined, CU_EVENT_WAIT_EXTERNAL));
    SUCCEED(api.cuStreamEndCapture(first, &graph));
    check_types(graph,
                (CUgraphNodeType[]){CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMCPY,
                                    CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT},
                4);
    replay(graph, 2);
    SUCCEED(api.cuEventQuery(joined));
}

static void information(void)
{
    CUgraph graph, seen = NULL;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0, id_of_second = 0;
    const CUgraphNode *dependencies = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 99;
    CUgraphNode mine;

    printf("# what is known of a capture, and changing it\n");
    SUCCEED(api.cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SUCCEED(api.cuStreamGetCaptureInfo(first, &status, &id, &seen, &dependencies, &data, &count));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK(count == 0);
    launch_kernel(first, kernels.three, 9);
    SUCCEED(api.cuEventRecord(forked, first));
    SUCCEED(api.cuStreamWaitEvent(second, forked, 0));
    SUCCEED(api.cuStreamGetCaptureInfo(second, &status, &id_of_second, &seen, &dependencies, &data, &count));
    CHECK(count == 1);
    CHECK(id == id_of_second);
    SUCCEED(api.cuGraphAddEmptyNode(&mine, seen, dependencies, count));
    SUCCEED(api.cuStreamUpdateCaptureDependencies(first, &mine, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    SUCCEED(api.cuStreamGetCaptureInfo(first, &status, NULL, NULL, &dependencies, NULL, &count));
    CHECK(count == 1 && dependencies[0] == mine);
    GUESS(CUDA_ERROR_INVALID_VALUE, api.cuGraphDestroyNode(mine));
    GUESS(CUDA_ERROR_INVALID_VALUE, api.cuGraphDestroy(seen));
    SUCCEED(api.cuStreamEndCapture(first, &graph));
    CHECK(graph == seen);
    SUCCEED(api.cuGraphDestroy(graph));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, api.cuStreamUpdateCaptureDependencies(first, NULL, NULL, 0, 0));
    SUCCEED(api.cuStreamGetCaptureInfo(first, &status, NULL, NULL, NULL, NULL, NULL));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
}

static void into_graph(void)
{
    CUgraph graph, back;
    CUgraphNode start;
    CUgraphExec exec;
    size_t count = 0;

    printf("# capture into a graph that exists\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphAddEmptyNode(&start, graph, NULL, 0));
    SUCCEED(api.cuStreamBeginCaptureToGraph(first, graph, &start, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_kernel(first, kernels.three, 10);
    GUESS(CUDA_ERROR_INVALID_VALUE, api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    SUCCEED(api.cuStreamEndCapture(first, &back));
    CHECK(back == graph);
    SUCCEED(api.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK(count == 1);
    replay(graph, 2);
    launched("three", 10, 2, 2);
}

static void programmatic(void)
{
    struct arguments arguments;
    CUgraph graph;
    CUgraphNode from, to;
    CUgraphEdgeData data;
    size_t one = 1;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value = {.programmaticStreamSerializationAllowed = 1}};
    CUlaunchConfig config = {.gridDimX = 11,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 64,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = first,
                             .attrs = &attribute,
                             .numAttrs = 1};

    printf("# programmatic dependent launch\n");
    kernel_parameters(kernels.three, 11, &arguments);
    SUCCEED(api.cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SUCCEED(api.cuLaunchKernelEx(&config, kernels.three, arguments.pointers, NULL));
    SUCCEED(api.cuLaunchKernelEx(&config, kernels.three, arguments.pointers, NULL));
    SUCCEED(api.cuStreamEndCapture(first, &graph));
    SUCCEED(api.cuGraphGetEdges(graph, &from, &to, &data, &one));
    CHECK(data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    replay(graph, 1);
    launched("three", 11, 2, 2);
}

int main(void)
{
    kernels = kernels_load();
    memory = memory_allocate(4096);
    SUCCEED(api.cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    SUCCEED(api.cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    SUCCEED(api.cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
    one_stream();
    forked_streams();
    unjoined();
    graph_in_capture();
    other_work();
    information();
    into_graph();
    programmatic();
    return conformance_end();
}
