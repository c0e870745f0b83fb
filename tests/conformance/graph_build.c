/* Making graphs: nodes of every kind and their parameters, edges and the queries about them, clones, user
 * objects. */
#include "graph_support.h"

static CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .WidthInBytes = bytes,
                           .Height = 1,
                           .Depth = 1};
}

static void nothing(void *data)
{
    (void)data;
}

static void node_kinds(const struct kernels *kernels, CUdeviceptr memory)
{
    struct arguments arguments;
    CUgraph graph, child, found;
    CUgraphNode kernel, copy, fill, host, inner, empty, record, wait;
    CUevent event, event_found;
    CUDA_MEMCPY3D copy_found, copy_given = copy_of(memory + 512, memory, 256);
    CUDA_MEMSET_NODE_PARAMS fill_found,
        fill_given = {.dst = memory, .value = 7, .elementSize = 4, .width = 64, .height = 1};
    CUDA_HOST_NODE_PARAMS host_found, host_given = {.fn = nothing, .userData = &arguments};

    printf("# nodes of each kind\n");
    CUDA_KERNEL_NODE_PARAMS kernel_given = kernel_parameters(kernels->three, 1, &arguments);
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphCreate(&child, 0));
    SUCCEED(api.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    SUCCEED(api.cuGraphAddKernelNode(&kernel, graph, NULL, 0, &kernel_given));
    SUCCEED(api.cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &copy_given, kernels->context));
    SUCCEED(api.cuGraphAddMemsetNode(&fill, graph, &kernel, 1, &fill_given, kernels->context));
    SUCCEED(api.cuGraphAddHostNode(&host, graph, &fill, 1, &host_given));
    SUCCEED(api.cuGraphAddChildGraphNode(&inner, graph, &host, 1, child));
    SUCCEED(api.cuGraphAddEmptyNode(&empty, graph, (CUgraphNode[]){copy, inner}, 2));
    SUCCEED(api.cuGraphAddEventRecordNode(&record, graph, &empty, 1, event));
    SUCCEED(api.cuGraphAddEventWaitNode(&wait, graph, NULL, 0, event));

    check_types(graph,
                (CUgraphNodeType[]){CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY,
                                    CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_HOST,
                                    CU_GRAPH_NODE_TYPE_GRAPH, CU_GRAPH_NODE_TYPE_EMPTY,
                                    CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT},
                8);
    SUCCEED(api.cuGraphMemcpyNodeGetParams(copy, &copy_found));
    CHECK(copy_found.dstDevice == memory + 512 && copy_found.WidthInBytes == 256);
    SUCCEED(api.cuGraphMemsetNodeGetParams(fill, &fill_found));
    CHECK(fill_found.value == 7);
    SUCCEED(api.cuGraphHostNodeGetParams(host, &host_found));
    CHECK(host_found.fn == nothing && host_found.userData == &arguments);
    SUCCEED(api.cuGraphChildGraphNodeGetGraph(inner, &found));
    CHECK(found != child);
    SUCCEED(api.cuGraphEventRecordNodeGetEvent(record, &event_found));
    CHECK(event_found == event);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphEventWaitNodeGetEvent(record, &event_found));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphKernelNodeSetParams(copy, &kernel_given));
    SUCCEED(api.cuGraphDebugDotPrint(graph, "/dev/null", 0));
    SUCCEED(api.cuGraphDestroy(child));
    SUCCEED(api.cuGraphDestroy(graph));
    SUCCEED(api.cuEventDestroy(event));
}

static void kernel_nodes(const struct kernels *kernels)
{
    struct arguments arguments;
    CUgraph graph;
    CUgraphNode by_function, by_kernel;
    CUDA_KERNEL_NODE_PARAMS found;

    printf("# parameters of kernel nodes\n");
    CUDA_KERNEL_NODE_PARAMS given = kernel_parameters(kernels->three, 3, &arguments);
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphAddKernelNode(&by_function, graph, NULL, 0, &given));
    given.func = NULL;
    given.kern = kernels->library_three;
    SUCCEED(api.cuGraphAddKernelNode(&by_kernel, graph, NULL, 0, &given));
    arguments.b = 9;
    SUCCEED(api.cuGraphKernelNodeGetParams(by_function, &found));
    CHECK(found.func == kernels->three && found.gridDimX == 3 && found.blockDimX == 64);
    CHECK(*(uint32_t *)found.kernelParams[1] == 2);
    SUCCEED(api.cuGraphKernelNodeGetParams(by_kernel, &found));
    CHECK(found.kern == kernels->library_three || found.func != NULL);

    SUCCEED(api.cuGraphKernelNodeSetParams(by_function, &given));
    SUCCEED(api.cuGraphKernelNodeGetParams(by_function, &found));
    CHECK(*(uint32_t *)found.kernelParams[1] == 9);

    given.gridDimX = 0;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddKernelNode(&by_function, graph, NULL, 0, &given));
    given.gridDimX = 1;
    given.blockDimX = 2048;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddKernelNode(&by_function, graph, NULL, 0, &given));
    given.kern = NULL;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddKernelNode(&by_function, graph, NULL, 0, &given));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void packed_parameters(const struct kernels *kernels)
{
    unsigned char buffer[13] = {0}; /* 8, 4 and 1 bytes */
    size_t bytes = sizeof(buffer);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    struct arguments arguments;
    CUgraph graph;
    CUgraphNode node;

    printf("# parameters in one buffer\n");
    CUDA_KERNEL_NODE_PARAMS given = kernel_parameters(kernels->three, 1, &arguments);
    SUCCEED(api.cuGraphCreate(&graph, 0));
    given.extra = extra;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddKernelNode(&node, graph, NULL, 0, &given));
    given.kernelParams = NULL;
    SUCCEED(api.cuGraphAddKernelNode(&node, graph, NULL, 0, &given));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void attributes(const struct kernels *kernels)
{
    struct arguments arguments;
    CUgraph graph;
    CUgraphNode a, b;
    CUlaunchAttributeValue value = {.priority = 0}, found;

    printf("# attributes of kernel nodes\n");
    CUDA_KERNEL_NODE_PARAMS given = kernel_parameters(kernels->three, 4, &arguments);
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphAddKernelNode(&a, graph, NULL, 0, &given));
    SUCCEED(api.cuGraphAddKernelNode(&b, graph, NULL, 0, &given));
    SUCCEED(api.cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &found));
    CHECK(found.cooperative == 0);
    value.cooperative = 1;
    SUCCEED(api.cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    SUCCEED(api.cuGraphKernelNodeCopyAttributes(b, a));
    SUCCEED(api.cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &found));
    CHECK(found.cooperative == 1);
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           api.cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, &found));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void edges(void)
{
    CUgraph graph, other;
    CUgraphNode node[4], stranger, from[8], to[8], list[8];
    CUgraphEdgeData data[8];
    size_t count;

    printf("# edges\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphCreate(&other, 0));
    for (int i = 0; i < 4; i++) {
        SUCCEED(api.cuGraphAddEmptyNode(&node[i], graph, NULL, 0));
    }
    SUCCEED(api.cuGraphAddEmptyNode(&stranger, other, NULL, 0));
    /* 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3 */
    SUCCEED(api.cuGraphAddDependencies(graph, (CUgraphNode[]){node[0], node[0], node[1], node[2]},
                                       (CUgraphNode[]){node[1], node[2], node[3], node[3]}, NULL, 4));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddDependencies(graph, &node[0], &node[1], NULL, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddDependencies(graph, &node[0], &stranger, NULL, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddDependencies(graph, &node[0], &node[0], NULL, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           api.cuGraphAddEmptyNode(&stranger, graph, (CUgraphNode[]){node[0], node[0]}, 2));

    count = 0;
    SUCCEED(api.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK(count == 4);
    count = 8;
    SUCCEED(api.cuGraphGetEdges(graph, from, to, data, &count));
    CHECK(count == 4);
    CHECK(from[4] == NULL && to[4] == NULL);
    count = 8;
    SUCCEED(api.cuGraphGetRootNodes(graph, list, &count));
    CHECK(count == 1 && list[0] == node[0]);
    count = 2;
    SUCCEED(api.cuGraphGetNodes(graph, list, &count));
    CHECK(count == 2 && list[0] == node[0] && list[1] == node[1]);
    count = 8;
    SUCCEED(api.cuGraphNodeGetDependencies(node[3], list, NULL, &count));
    CHECK(count == 2 && list[0] == node[1] && list[1] == node[2]);
    count = 8;
    SUCCEED(api.cuGraphNodeGetDependentNodes(node[0], list, NULL, &count));
    CHECK(count == 2 && list[0] == node[1] && list[1] == node[2]);

    SUCCEED(api.cuGraphRemoveDependencies(graph, &node[0], &node[1], NULL, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphRemoveDependencies(graph, &node[0], &node[1], NULL, 1));
    SUCCEED(api.cuGraphDestroyNode(node[2]));
    count = 0;
    SUCCEED(api.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK(count == 1);
    SUCCEED(api.cuGraphDestroy(graph));
    SUCCEED(api.cuGraphDestroy(other));
}

static void edge_data(const struct kernels *kernels)
{
    struct arguments arguments;
    CUgraph graph;
    CUgraphNode first, second, list[2];
    CUgraphEdgeData found, programmatic = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                           .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    size_t count = 2;

    printf("# edge data\n");
    CUDA_KERNEL_NODE_PARAMS given = kernel_parameters(kernels->three, 1, &arguments);
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphAddKernelNode(&first, graph, NULL, 0, &given));
    SUCCEED(api.cuGraphAddKernelNode(&second, graph, NULL, 0, &given));
    SUCCEED(api.cuGraphAddDependencies(graph, &first, &second, &programmatic, 1));
    EXPECT(CUDA_ERROR_LOSSY_QUERY, api.cuGraphNodeGetDependencies(second, list, NULL, &count));
    count = 1;
    SUCCEED(api.cuGraphNodeGetDependencies(second, list, &found, &count));
    CHECK(found.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    SUCCEED(api.cuGraphRemoveDependencies(graph, &first, &second, &programmatic, 1));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void clones(const struct kernels *kernels)
{
    struct arguments arguments;
    CUgraph graph, clone;
    CUgraphNode first, second, found;
    CUDA_KERNEL_NODE_PARAMS parameters;
    size_t count = 0;

    printf("# clones\n");
    CUDA_KERNEL_NODE_PARAMS given = kernel_parameters(kernels->three, 1, &arguments);
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphAddKernelNode(&first, graph, NULL, 0, &given));
    SUCCEED(api.cuGraphAddKernelNode(&second, graph, &first, 1, &given));
    SUCCEED(api.cuGraphClone(&clone, graph));
    given.gridDimX = 9;
    SUCCEED(api.cuGraphKernelNodeSetParams(first, &given));
    SUCCEED(api.cuGraphNodeFindInClone(&found, first, clone));
    SUCCEED(api.cuGraphKernelNodeGetParams(found, &parameters));
    CHECK(parameters.gridDimX == 1);
    SUCCEED(api.cuGraphGetEdges(clone, NULL, NULL, NULL, &count));
    CHECK(count == 1);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphNodeFindInClone(&found, first, graph));
    SUCCEED(api.cuGraphDestroy(graph));
    SUCCEED(api.cuGraphDestroy(clone));
}

static int destroyed;

static void count_destroyed(void *data)
{
    (void)data;
    destroyed++;
}

static void user_objects(void)
{
    CUuserObject object;
    CUgraph graph, clone;

    printf("# user objects\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuUserObjectCreate(&object, NULL, count_destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SUCCEED(api.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    SUCCEED(api.cuGraphClone(&clone, graph));
    SUCCEED(api.cuGraphDestroy(graph));
    CHECK(destroyed == 0);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphReleaseUserObject(clone, object, 2));
    SUCCEED(api.cuGraphDestroy(clone));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuUserObjectCreate(&object, NULL, count_destroyed, 1, 0));
}

static void refusals(void)
{
    CUgraph graph;
    CUgraphNode node;

    printf("# refusals\n");
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphCreate(&graph, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphCreate(NULL, 0));
    SUCCEED(api.cuGraphCreate(&graph, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddEmptyNode(&node, graph, NULL, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddHostNode(&node, graph, NULL, 0, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphDestroy(NULL));
    SUCCEED(api.cuGraphDestroy(graph));
}

int main(void)
{
    struct kernels kernels = kernels_load();
    CUdeviceptr memory = memory_allocate(4096);
    node_kinds(&kernels, memory);
    kernel_nodes(&kernels);
    packed_parameters(&kernels);
    attributes(&kernels);
    edges();
    edge_data(&kernels);
    clones(&kernels);
    user_objects();
    refusals();
    return conformance_end();
}
