/* Memory that graphs allocate: by nodes and by captured calls; when launching again is allowed. Also
 * conditional nodes, whose bodies the host never sees run. */
#include "graph_support.h"

static struct kernels kernels;
static CUstream stream;

static CUDA_MEM_ALLOC_NODE_PARAMS allocation_of(size_t bytes)
{
    return (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
                                        .bytesize = bytes};
}

static void allocate_and_free(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS given = allocation_of(1024), found;
    CUgraph graph, clone;
    CUgraphNode allocate, fill, release;
    CUgraphExec exec;
    CUdeviceptr freed = 0;

    printf("# allocated and freed inside the graph: launches repeat\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphAddMemAllocNode(&allocate, graph, NULL, 0, &given));
    CHECK(given.dptr != 0);
    CUDA_MEMSET_NODE_PARAMS fill_given = {
        .dst = given.dptr, .value = 1, .elementSize = 1, .width = 1024, .height = 1};
    SUCCEED(api.cuGraphAddMemsetNode(&fill, graph, &allocate, 1, &fill_given, kernels.context));
    SUCCEED(api.cuGraphAddMemFreeNode(&release, graph, &fill, 1, given.dptr));
    SUCCEED(api.cuGraphMemAllocNodeGetParams(allocate, &found));
    CHECK(found.dptr == given.dptr && found.bytesize == 1024);
    SUCCEED(api.cuGraphMemFreeNodeGetParams(release, &freed));
    CHECK(freed == given.dptr);
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    GUESS(CUDA_ERROR_NOT_SUPPORTED, api.cuGraphClone(&clone, graph));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void left_allocated(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS given = allocation_of(256);
    CUgraph graph;
    CUgraphNode allocate;
    CUgraphExec exec;
    unsigned char byte = 9;

    printf("# freed by the client: a launch before that is refused\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(api.cuGraphAddMemAllocNode(&allocate, graph, NULL, 0, &given));
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuMemcpyHtoD(given.dptr, &byte, 1));
    SUCCEED(api.cuMemFree(given.dptr));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuMemFreeAsync(given.dptr, stream));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuGraphExecDestroy(exec));

    printf("# freed by the next launch\n");
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuMemFree(given.dptr));
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void captured(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr address = 0;

    printf("# captured allocation, fill and free\n");
    SUCCEED(api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    SUCCEED(api.cuMemAllocAsync(&address, 512, stream));
    CHECK(address != 0);
    SUCCEED(api.cuMemsetD8Async(address, 3, 512, stream));
    SUCCEED(api.cuMemFreeAsync(address, stream));
    SUCCEED(api.cuStreamEndCapture(stream, &graph));
    check_types(graph,
                (CUgraphNodeType[]){CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEMSET,
                                    CU_GRAPH_NODE_TYPE_MEM_FREE},
                3);
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuGraphLaunch(exec, stream));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

static void conditional(void)
{
    CUgraph graph;
    CUgraphNode node, inside;
    CUgraphExec exec;
    CUgraphConditionalHandle handle;
    struct arguments arguments;

    printf("# conditional node\n");
    SUCCEED(api.cuGraphCreate(&graph, 0));
    SUCCEED(
        api.cuGraphConditionalHandleCreate(&handle, graph, kernels.context, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams given = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = CU_GRAPH_COND_TYPE_IF, .size = 1, .ctx = kernels.context}};
    SUCCEED(api.cuGraphAddNode(&node, graph, NULL, NULL, 0, &given));
    CHECK(given.conditional.phGraph_out && given.conditional.phGraph_out[0]);
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_parameters(kernels.three, 1, &arguments);
    SUCCEED(api.cuGraphAddKernelNode(&inside, given.conditional.phGraph_out[0], NULL, 0, &kernel));
    SUCCEED(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
    SUCCEED(api.cuGraphLaunch(exec, stream)); /* the condition is 0: nothing runs */
    SUCCEED(api.cuStreamSynchronize(stream));
    given.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    given.conditional.size = 2;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuGraphAddNode(&node, graph, NULL, NULL, 0, &given));
    SUCCEED(api.cuGraphExecDestroy(exec));
    SUCCEED(api.cuGraphDestroy(graph));
}

int main(void)
{
    kernels = kernels_load();
    SUCCEED(api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    allocate_and_free();
    left_allocated();
    captured();
    conditional();
    return conformance_end();
}
