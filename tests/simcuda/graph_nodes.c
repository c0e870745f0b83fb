/* The exported functions that add nodes to graphs and read or replace their parameters. Those for executable
 * graphs are in graph_update.c. */
#include "graph.h"
#include "graph_edges.h"
#include "graph_memory.h"
#include "require.h"

/* The body of a function (node, graph, dependencies, count, …) that adds what `describe` fills into `work`.
 */
#define ADD_NODE(symbol, describe)                                                                           \
    struct graph_work work;                                                                                  \
    ENTER(symbol);                                                                                           \
    REQUIRE(node);                                                                                           \
    REQUIRE_GRAPH(graph, symbol);                                                                            \
    TRY(describe);                                                                                           \
    return graph_add(graph, dependencies, NULL, count, &work, node)

/* The start of a function (node, …) about a node of one type. */
#define NODE_OF_TYPE(symbol, wanted)                                                                         \
    ENTER(symbol);                                                                                           \
    REQUIRE_NODE(node, symbol);                                                                              \
    REQUIRE(node->work.type == (wanted))

/* ... and the whole of one that replaces its work by what `describe` fills into `work`. */
#define SET_NODE(symbol, wanted, describe)                                                                   \
    struct graph_work work;                                                                                  \
    NODE_OF_TYPE(symbol, wanted);                                                                            \
    TRY(describe);                                                                                           \
    return graph_replace(node, &work)

/* --- any type ------------------------------------------------------------------------------------------ */

static CUresult add_node(enum call call, CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                         const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *parameters)
{
    struct graph_work work;
    TRY(graph_edges_check(graph, dependencies, data, count));
    TRY(graph_describe(call, parameters, &work));
    return graph_add(graph, dependencies, data, count, &work, node);
}

CUresult CUDAAPI cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUgraphNodeParams *parameters)
{
    ENTER(cuGraphAddNode);
    REQUIRE(node);
    REQUIRE_GRAPH(graph, cuGraphAddNode);
    return add_node(CALL_cuGraphAddNode, node, graph, dependencies, NULL, count, parameters);
}

CUresult CUDAAPI cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *parameters)
{
    ENTER(cuGraphAddNode_v2);
    REQUIRE(node);
    REQUIRE_GRAPH(graph, cuGraphAddNode_v2);
    return add_node(CALL_cuGraphAddNode_v2, node, graph, dependencies, data, count, parameters);
}

static bool has_settable_parameters(CUgraphNodeType type)
{
    return type != CU_GRAPH_NODE_TYPE_GRAPH && type != CU_GRAPH_NODE_TYPE_EMPTY &&
           type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && type != CU_GRAPH_NODE_TYPE_MEM_FREE &&
           type != CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult CUDAAPI cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *parameters)
{
    struct graph_work work;
    ENTER(cuGraphNodeSetParams);
    REQUIRE(parameters);
    REQUIRE_NODE(node, cuGraphNodeSetParams);
    REQUIRE(node->work.type == parameters->type);
    if (!has_settable_parameters(parameters->type)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    TRY(graph_describe(CALL_cuGraphNodeSetParams, parameters, &work));
    return graph_replace(node, &work);
}

/* --- kernels ------------------------------------------------------------------------------------------- */

CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                      size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    ADD_NODE(cuGraphAddKernelNode, graph_describe_kernel_v1(CALL_cuGraphAddKernelNode, parameters, &work));
}

CUresult CUDAAPI cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                         size_t count, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
    ADD_NODE(cuGraphAddKernelNode_v2, graph_describe_kernel(CALL_cuGraphAddKernelNode_v2, parameters, &work));
}

/* Without a place for a CUkernel the answer is always the function. */
CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    CUDA_KERNEL_NODE_PARAMS_v2 all;
    NODE_OF_TYPE(cuGraphKernelNodeGetParams, CU_GRAPH_NODE_TYPE_KERNEL);
    REQUIRE(parameters);
    graph_kernel_parameters(&node->work.kernel, &all);
    *parameters = (CUDA_KERNEL_NODE_PARAMS_v1){.func = node->work.kernel.request.function,
                                               .gridDimX = all.gridDimX,
                                               .gridDimY = all.gridDimY,
                                               .gridDimZ = all.gridDimZ,
                                               .blockDimX = all.blockDimX,
                                               .blockDimY = all.blockDimY,
                                               .blockDimZ = all.blockDimZ,
                                               .sharedMemBytes = all.sharedMemBytes,
                                               .kernelParams = all.kernelParams};
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
    NODE_OF_TYPE(cuGraphKernelNodeGetParams_v2, CU_GRAPH_NODE_TYPE_KERNEL);
    REQUIRE(parameters);
    graph_kernel_parameters(&node->work.kernel, parameters);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    SET_NODE(cuGraphKernelNodeSetParams, CU_GRAPH_NODE_TYPE_KERNEL,
             graph_describe_kernel_v1(CALL_cuGraphKernelNodeSetParams, parameters, &work));
}

CUresult CUDAAPI cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
    SET_NODE(cuGraphKernelNodeSetParams_v2, CU_GRAPH_NODE_TYPE_KERNEL,
             graph_describe_kernel(CALL_cuGraphKernelNodeSetParams_v2, parameters, &work));
}

CUresult CUDAAPI cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                               CUkernelNodeAttrValue *value)
{
    static const CUkernelNodeAttrValue unset;
    NODE_OF_TYPE(cuGraphKernelNodeGetAttribute, CU_GRAPH_NODE_TYPE_KERNEL);
    REQUIRE(value && graph_kernel_keeps_attribute(id));
    const CUlaunchAttribute *attribute = graph_kernel_attribute(&node->work.kernel, id);
    *value = attribute ? attribute->value : unset;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                               const CUkernelNodeAttrValue *value)
{
    NODE_OF_TYPE(cuGraphKernelNodeSetAttribute, CU_GRAPH_NODE_TYPE_KERNEL);
    REQUIRE(value);
    return graph_kernel_set_attribute(&node->work.kernel, id, value);
}

CUresult CUDAAPI cuGraphKernelNodeCopyAttributes(CUgraphNode node, CUgraphNode source)
{
    NODE_OF_TYPE(cuGraphKernelNodeCopyAttributes, CU_GRAPH_NODE_TYPE_KERNEL);
    REQUIRE_NODE(source, cuGraphKernelNodeCopyAttributes);
    REQUIRE(source->work.type == CU_GRAPH_NODE_TYPE_KERNEL);
    return graph_kernel_copy_attributes(&source->work.kernel, &node->work.kernel);
}

/* --- copies and fills ---------------------------------------------------------------------------------- */

CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                      size_t count, const CUDA_MEMCPY3D *parameters, CUcontext context)
{
    ADD_NODE(cuGraphAddMemcpyNode, graph_describe_copy(parameters, context, &work));
}

CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *parameters)
{
    NODE_OF_TYPE(cuGraphMemcpyNodeGetParams, CU_GRAPH_NODE_TYPE_MEMCPY);
    REQUIRE(parameters);
    *parameters = node->work.copy.parameters;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *parameters)
{
    SET_NODE(cuGraphMemcpyNodeSetParams, CU_GRAPH_NODE_TYPE_MEMCPY,
             graph_describe_copy(parameters, node->work.copy.context, &work));
}

CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                      size_t count, const CUDA_MEMSET_NODE_PARAMS *parameters,
                                      CUcontext context)
{
    ADD_NODE(cuGraphAddMemsetNode, graph_describe_fill(parameters, context, &work));
}

CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *parameters)
{
    NODE_OF_TYPE(cuGraphMemsetNodeGetParams, CU_GRAPH_NODE_TYPE_MEMSET);
    REQUIRE(parameters);
    const CUDA_MEMSET_NODE_PARAMS_v2 *fill = &node->work.fill;
    *parameters = (CUDA_MEMSET_NODE_PARAMS){.dst = fill->dst,
                                            .pitch = fill->pitch,
                                            .value = fill->value,
                                            .elementSize = fill->elementSize,
                                            .width = fill->width,
                                            .height = fill->height};
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *parameters)
{
    SET_NODE(cuGraphMemsetNodeSetParams, CU_GRAPH_NODE_TYPE_MEMSET,
             graph_describe_fill(parameters, node->work.fill.ctx, &work));
}

/* --- host functions, children, nothing ----------------------------------------------------------------- */

static CUresult describe_host(const CUDA_HOST_NODE_PARAMS *parameters, struct graph_work *work)
{
    REQUIRE(parameters);
    return graph_describe_host(parameters->fn, parameters->userData, work);
}

CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                    size_t count, const CUDA_HOST_NODE_PARAMS *parameters)
{
    ADD_NODE(cuGraphAddHostNode, describe_host(parameters, &work));
}

CUresult CUDAAPI cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *parameters)
{
    NODE_OF_TYPE(cuGraphHostNodeGetParams, CU_GRAPH_NODE_TYPE_HOST);
    REQUIRE(parameters);
    *parameters = (CUDA_HOST_NODE_PARAMS){.fn = node->work.host.fn, .userData = node->work.host.userData};
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *parameters)
{
    SET_NODE(cuGraphHostNodeSetParams, CU_GRAPH_NODE_TYPE_HOST, describe_host(parameters, &work));
}

CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          size_t count, CUgraph child)
{
    ADD_NODE(cuGraphAddChildGraphNode, graph_describe_child(CALL_cuGraphAddChildGraphNode, child, &work));
}

CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *child)
{
    NODE_OF_TYPE(cuGraphChildGraphNodeGetGraph, CU_GRAPH_NODE_TYPE_GRAPH);
    REQUIRE(child);
    *child = node->work.child;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                     size_t count)
{
    ADD_NODE(cuGraphAddEmptyNode, (work.type = CU_GRAPH_NODE_TYPE_EMPTY, CUDA_SUCCESS));
}

/* --- events -------------------------------------------------------------------------------------------- */

CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                           size_t count, CUevent event)
{
    ADD_NODE(cuGraphAddEventRecordNode, graph_describe_event(CALL_cuGraphAddEventRecordNode,
                                                             CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, &work));
}

CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                         size_t count, CUevent event)
{
    ADD_NODE(cuGraphAddEventWaitNode,
             graph_describe_event(CALL_cuGraphAddEventWaitNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, &work));
}

CUresult CUDAAPI cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    NODE_OF_TYPE(cuGraphEventRecordNodeGetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    REQUIRE(event);
    *event = node->work.event;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    NODE_OF_TYPE(cuGraphEventWaitNodeGetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    REQUIRE(event);
    *event = node->work.event;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    SET_NODE(cuGraphEventRecordNodeSetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
             graph_describe_event(CALL_cuGraphEventRecordNodeSetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event,
                                  &work));
}

CUresult CUDAAPI cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    SET_NODE(
        cuGraphEventWaitNodeSetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        graph_describe_event(CALL_cuGraphEventWaitNodeSetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, &work));
}

/* --- memory -------------------------------------------------------------------------------------------- */

CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                        size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    ADD_NODE(cuGraphAddMemAllocNode, graph_describe_allocation(parameters, &work));
}

CUresult CUDAAPI cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    NODE_OF_TYPE(cuGraphMemAllocNodeGetParams, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    REQUIRE(parameters);
    *parameters = node->work.allocation->parameters;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                       size_t count, CUdeviceptr address)
{
    ADD_NODE(cuGraphAddMemFreeNode, graph_describe_free(address, &work));
}

CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address)
{
    NODE_OF_TYPE(cuGraphMemFreeNodeGetParams, CU_GRAPH_NODE_TYPE_MEM_FREE);
    REQUIRE(address);
    *address = node->work.freed;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
    ADD_NODE(cuGraphAddBatchMemOpNode, graph_describe_words(parameters, &work));
}

CUresult CUDAAPI cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
    NODE_OF_TYPE(cuGraphBatchMemOpNodeGetParams, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    REQUIRE(parameters);
    const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *words = &node->work.words;
    *parameters = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = words->ctx, .count = words->count, .paramArray = words->paramArray, .flags = words->flags};
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                                const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
    SET_NODE(cuGraphBatchMemOpNodeSetParams, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
             graph_describe_words(parameters, &work));
}

/* Body graphs of conditional nodes run on the device's decision: the host never counts them. */
CUresult CUDAAPI cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                                CUcontext context, unsigned default_value, unsigned flags)
{
    static _Atomic uint64_t next_handle = 1;
    ENTER(cuGraphConditionalHandleCreate);
    (void)default_value;
    REQUIRE(handle && (flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT) == 0);
    REQUIRE_GRAPH(graph, cuGraphConditionalHandleCreate);
    if (context && !object_is(context, OBJECT_CONTEXT)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *handle = atomic_fetch_add(&next_handle, 1);
    return CUDA_SUCCESS;
}
