/* Changing executable graphs: single nodes, or all of them after a graph of the same shape. */
#include "graph.h"
#include "graph_memory.h"
#include "require.h"

#include <stdlib.h>

/* --- what may change ----------------------------------------------------------------------------------- */

static bool is_one_dimensional(const CUDA_MEMCPY3D *copy)
{
    return copy->Height <= 1 && copy->Depth <= 1;
}

static CUgraphExecUpdateResult copy_change(const CUDA_MEMCPY3D *from, const CUDA_MEMCPY3D *to)
{
    bool same_memory = from->srcMemoryType == to->srcMemoryType && from->dstMemoryType == to->dstMemoryType;
    bool same_shape = is_one_dimensional(from) == is_one_dimensional(to) &&
                      (is_one_dimensional(from) || (from->WidthInBytes == to->WidthInBytes &&
                                                    from->Height == to->Height && from->Depth == to->Depth));
    return same_memory && same_shape ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                     : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static CUgraphExecUpdateResult fill_change(const CUDA_MEMSET_NODE_PARAMS_v2 *from,
                                           const CUDA_MEMSET_NODE_PARAMS_v2 *to)
{
    bool same_shape = (from->height <= 1 && to->height <= 1) ||
                      (from->width == to->width && from->height == to->height && from->pitch == to->pitch &&
                       from->elementSize == to->elementSize);
    return same_shape ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static CUgraphExecUpdateResult kernel_change(const struct graph_kernel *from, const struct graph_kernel *to)
{
    if (from->request.function->context != to->request.function->context) {
        return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    }
    return from->request.cooperative == to->request.cooperative
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
}

static bool same_conditional(const struct graph_conditional *from, const struct graph_conditional *to)
{
    return from->type == to->type && from->bodies_count == to->bodies_count;
}

/* Child graphs and bodies aside, which are compared node by node. */
static CUgraphExecUpdateResult work_change(const struct graph_work *from, const struct graph_work *to)
{
    bool same = true;
    switch (from->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return kernel_change(&from->kernel, &to->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return copy_change(&from->copy.parameters, &to->copy.parameters);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return fill_change(&from->fill, &to->fill);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        same = from->allocation->parameters.bytesize == to->allocation->parameters.bytesize;
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        same = from->words.count == to->words.count;
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        same = same_conditional(&from->conditional, &to->conditional);
        break;
    default:
        break;
    }
    return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/* --- pairing two graphs -------------------------------------------------------------------------------- */

static CUgraphExecUpdateResult complain(CUgraphExecUpdateResultInfo *info, CUgraphExecUpdateResult result,
                                        CUgraphNode node, CUgraphNode from)
{
    *info = (CUgraphExecUpdateResultInfo){.result = result, .errorNode = node, .errorFromNode = from};
    return result;
}

/* Paired nodes whose dependencies have still to be paired: `ours` is of the executable graph. */
struct pairing {
    struct CUgraphNode_st **ours;
    size_t count;
};

static bool pair(struct pairing *pairing, struct CUgraphNode_st *ours, struct CUgraphNode_st *theirs)
{
    if (ours->partner || theirs->partner) {
        return ours->partner == theirs;
    }
    ours->partner = theirs;
    theirs->partner = ours;
    pairing->ours[pairing->count++] = ours;
    return true;
}

static void forget_pairs(CUgraph graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        graph->nodes[i]->partner = NULL;
    }
}

static struct CUgraphNode_st *next_sink(CUgraph graph, size_t *position)
{
    while (*position < graph->count) {
        struct CUgraphNode_st *node = graph->nodes[(*position)++];
        if (node->dependents.count == 0) {
            return node;
        }
    }
    return NULL;
}

/* Nodes without dependents are paired by age, all others by the order of the edges that lead to them. */
static CUgraphExecUpdateResult pair_sinks(struct pairing *pairing, CUgraph ours, CUgraph theirs,
                                          CUgraphExecUpdateResultInfo *info)
{
    size_t our_position = 0, their_position = 0;
    struct CUgraphNode_st *our_sink, *their_sink;
    do {
        our_sink = next_sink(ours, &our_position);
        their_sink = next_sink(theirs, &their_position);
        if (!our_sink != !their_sink) {
            return complain(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, their_sink, NULL);
        }
        if (our_sink) {
            pair(pairing, our_sink, their_sink);
        }
    } while (our_sink);
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult pair_dependencies(struct pairing *pairing, struct CUgraphNode_st *ours,
                                                 CUgraphExecUpdateResultInfo *info)
{
    struct CUgraphNode_st *theirs = ours->partner;
    if (ours->dependencies.count != theirs->dependencies.count) {
        return complain(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, theirs, NULL);
    }
    for (size_t i = 0; i < ours->dependencies.count; i++) {
        struct CUgraphNode_st *dependency = theirs->dependencies.edges[i].node;
        if (!pair(pairing, ours->dependencies.edges[i].node, dependency)) {
            return complain(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, theirs, dependency);
        }
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult pair_nodes(struct pairing *pairing, CUgraph ours, CUgraph theirs,
                                          CUgraphExecUpdateResultInfo *info)
{
    CUgraphExecUpdateResult result = pair_sinks(pairing, ours, theirs, info);
    for (size_t i = 0; i < pairing->count && result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++) {
        result = pair_dependencies(pairing, pairing->ours[i], info);
    }
    if (result == CU_GRAPH_EXEC_UPDATE_SUCCESS && pairing->count != ours->count) {
        result = complain(info, CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL); /* a cycle */
    }
    return result;
}

static CUgraphExecUpdateResult compare(CUgraph ours, CUgraph theirs, CUgraphExecUpdateResultInfo *info);

static CUgraphExecUpdateResult compare_inside(const struct graph_work *ours, const struct graph_work *theirs,
                                              CUgraphExecUpdateResultInfo *info)
{
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    if (ours->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        result = compare(ours->child, theirs->child, info);
    } else if (ours->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        for (unsigned i = 0; i < ours->conditional.bodies_count && result == CU_GRAPH_EXEC_UPDATE_SUCCESS;
             i++) {
            result = compare(ours->conditional.bodies[i], theirs->conditional.bodies[i], info);
        }
    }
    return result;
}

static CUgraphExecUpdateResult compare_node(struct CUgraphNode_st *ours, CUgraphExecUpdateResultInfo *info)
{
    struct CUgraphNode_st *theirs = ours->partner;
    if (ours->work.type != theirs->work.type) {
        return complain(info, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, theirs, NULL);
    }
    CUgraphExecUpdateResult result = work_change(&ours->work, &theirs->work);
    return result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? compare_inside(&ours->work, &theirs->work, info)
                                                  : complain(info, result, theirs, NULL);
}

/* Pairs the nodes and says whether ours can become theirs. The pairs stay, for `apply`. */
static CUgraphExecUpdateResult compare(CUgraph ours, CUgraph theirs, CUgraphExecUpdateResultInfo *info)
{
    if (ours->count != theirs->count) {
        return complain(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    }
    if (ours->count == 0) {
        return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
    struct pairing pairing = {.ours = malloc(ours->count * sizeof(struct CUgraphNode_st *))};
    if (!pairing.ours) {
        return complain(info, CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL);
    }
    forget_pairs(ours);
    forget_pairs(theirs);
    CUgraphExecUpdateResult result = pair_nodes(&pairing, ours, theirs, info);
    for (size_t i = 0; i < ours->count && result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++) {
        result = compare_node(ours->nodes[i], info);
    }
    free(pairing.ours);
    return result;
}

/* --- taking over --------------------------------------------------------------------------------------- */

static void swap_work(struct CUgraphNode_st *a, struct CUgraphNode_st *b)
{
    struct graph_work work = a->work;
    a->work = b->work;
    b->work = work;
}

/* `copy` is a copy of the graph whose nodes ours are paired with: its work becomes ours, and ours its. */
static void apply(CUgraph ours, CUgraph copy)
{
    for (size_t i = 0; i < ours->count; i++) {
        struct CUgraphNode_st *node = ours->nodes[i], *source = copy->nodes[node->partner->index];
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            apply(node->work.child, source->work.child);
        } else if (node->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
            for (unsigned j = 0; j < node->work.conditional.bodies_count; j++) {
                apply(node->work.conditional.bodies[j], source->work.conditional.bodies[j]);
            }
        } else {
            swap_work(node, source);
        }
    }
}

static CUresult update(CUgraph ours, CUgraph theirs, CUgraphExecUpdateResultInfo *info)
{
    CUgraph copy;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    if (theirs->is_capturing) {
        complain(info, CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL);
    } else {
        compare(ours, theirs, info);
    }
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    CUresult result = graph_copy(theirs, &copy);
    if (result != CUDA_SUCCESS) {
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
        return result;
    }
    apply(ours, copy);
    graph_free(copy);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                                   CUgraphExecUpdateResult *update_result)
{
    CUgraphExecUpdateResultInfo info;
    ENTER(cuGraphExecUpdate);
    REQUIRE(update_result);
    *update_result = CU_GRAPH_EXEC_UPDATE_ERROR;
    REQUIRE_GRAPH_EXEC(exec, cuGraphExecUpdate);
    REQUIRE_GRAPH(graph, cuGraphExecUpdate);
    CUresult result = update(exec->graph, graph, &info);
    *update_result = info.result;
    if (error_node) {
        *error_node = info.errorNode;
    }
    return result;
}

CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    ENTER(cuGraphExecUpdate_v2);
    REQUIRE(info);
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    REQUIRE_GRAPH_EXEC(exec, cuGraphExecUpdate_v2);
    REQUIRE_GRAPH(graph, cuGraphExecUpdate_v2);
    return update(exec->graph, graph, info);
}

/* --- single nodes -------------------------------------------------------------------------------------- */

/* The start of a function (exec, node, …): `ours` becomes the node of the executable graph. */
#define EXEC_NODE(symbol)                                                                                    \
    ENTER(symbol);                                                                                           \
    REQUIRE_GRAPH_EXEC(exec, symbol);                                                                        \
    REQUIRE_NODE(node, symbol);                                                                              \
    struct CUgraphNode_st *ours = graph_find_copy(exec->graph, node, true);                                  \
    REQUIRE(ours)

#define SET_EXEC_NODE(symbol, wanted, describe)                                                              \
    struct graph_work work;                                                                                  \
    EXEC_NODE(symbol);                                                                                       \
    REQUIRE(ours->work.type == (wanted));                                                                    \
    TRY(describe);                                                                                           \
    return replace(ours, &work)

static CUresult replace(struct CUgraphNode_st *ours, struct graph_work *work)
{
    /* Attributes are the node's, and parameters that come without them change none. */
    CUgraphExecUpdateResult change = work->type == CU_GRAPH_NODE_TYPE_KERNEL ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                                             : work_change(&ours->work, work);
    bool moves = work->type == CU_GRAPH_NODE_TYPE_KERNEL &&
                 ours->work.kernel.request.function->context != work->kernel.request.function->context;
    if (change != CU_GRAPH_EXEC_UPDATE_SUCCESS || moves) {
        graph_work_free(work);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return graph_replace(ours, work);
}

static CUresult set_child(struct CUgraphNode_st *ours, CUgraph child)
{
    CUgraphExecUpdateResultInfo info;
    return update(ours->work.child, child, &info);
}

CUresult CUDAAPI cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *parameters)
{
    struct graph_work work;
    EXEC_NODE(cuGraphExecNodeSetParams);
    REQUIRE(parameters && parameters->type == ours->work.type);
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
        REQUIRE_GRAPH(parameters->graph.graph, cuGraphExecNodeSetParams);
        return set_child(ours, parameters->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        TRY(graph_describe(CALL_cuGraphExecNodeSetParams, parameters, &work));
        return replace(ours, &work);
    }
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    SET_EXEC_NODE(cuGraphExecKernelNodeSetParams, CU_GRAPH_NODE_TYPE_KERNEL,
                  graph_describe_kernel_v1(CALL_cuGraphExecKernelNodeSetParams, parameters, &work));
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
    SET_EXEC_NODE(cuGraphExecKernelNodeSetParams_v2, CU_GRAPH_NODE_TYPE_KERNEL,
                  graph_describe_kernel(CALL_cuGraphExecKernelNodeSetParams_v2, parameters, &work));
}

CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_MEMCPY3D *parameters, CUcontext context)
{
    SET_EXEC_NODE(cuGraphExecMemcpyNodeSetParams, CU_GRAPH_NODE_TYPE_MEMCPY,
                  graph_describe_copy(parameters, context, &work));
}

CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context)
{
    SET_EXEC_NODE(cuGraphExecMemsetNodeSetParams, CU_GRAPH_NODE_TYPE_MEMSET,
                  graph_describe_fill(parameters, context, &work));
}

CUresult CUDAAPI cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                              const CUDA_HOST_NODE_PARAMS *parameters)
{
    SET_EXEC_NODE(cuGraphExecHostNodeSetParams, CU_GRAPH_NODE_TYPE_HOST,
                  parameters ? graph_describe_host(parameters->fn, parameters->userData, &work)
                             : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    EXEC_NODE(cuGraphExecChildGraphNodeSetParams);
    REQUIRE(ours->work.type == CU_GRAPH_NODE_TYPE_GRAPH);
    REQUIRE_GRAPH(child, cuGraphExecChildGraphNodeSetParams);
    return set_child(ours, child);
}

CUresult CUDAAPI cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    SET_EXEC_NODE(cuGraphExecEventRecordNodeSetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                  graph_describe_event(CALL_cuGraphExecEventRecordNodeSetEvent,
                                       CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, &work));
}

CUresult CUDAAPI cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    SET_EXEC_NODE(cuGraphExecEventWaitNodeSetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                  graph_describe_event(CALL_cuGraphExecEventWaitNodeSetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                       event, &work));
}

CUresult CUDAAPI cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                    const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
    SET_EXEC_NODE(cuGraphExecBatchMemOpNodeSetParams, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                  graph_describe_words(parameters, &work));
}

static bool can_be_disabled(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    EXEC_NODE(cuGraphNodeSetEnabled);
    REQUIRE(can_be_disabled(ours->work.type));
    ours->is_disabled = enabled == 0;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled)
{
    EXEC_NODE(cuGraphNodeGetEnabled);
    REQUIRE(enabled && can_be_disabled(ours->work.type));
    *enabled = !ours->is_disabled;
    return CUDA_SUCCESS;
}
