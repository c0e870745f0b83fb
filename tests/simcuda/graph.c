/* Graphs and their nodes: making, copying, ordering, freeing. Edges are in graph_edges.c. */
#include "graph.h"
#include "graph_edges.h"
#include "require.h"

#include <stdlib.h>

static struct pool graph_pool = POOL(struct CUgraph_st);
static struct pool node_pool = POOL(struct CUgraphNode_st);
static _Atomic uint64_t next_id = 1;

CUresult graph_refuse(const void *handle, enum call call)
{
    object_refuse(handle, call);
    return CUDA_ERROR_INVALID_VALUE;
}

CUgraph graph_make(void)
{
    return pool_take(&graph_pool, OBJECT_GRAPH);
}

/* --- nodes --------------------------------------------------------------------------------------------- */

static bool graph_reserve(CUgraph graph)
{
    if (graph->count < graph->room) {
        return true;
    }
    size_t room = graph->room ? graph->room * 2 : 8;
    struct CUgraphNode_st **nodes = realloc(graph->nodes, room * sizeof(struct CUgraphNode_st *));
    if (!nodes) {
        return false;
    }
    graph->nodes = nodes;
    graph->room = room;
    return true;
}

static struct CUgraphNode_st *node_make(CUgraph graph)
{
    struct CUgraphNode_st *node = graph_reserve(graph) ? pool_take(&node_pool, OBJECT_GRAPH_NODE) : NULL;
    if (node) {
        node->graph = graph;
        node->id = atomic_fetch_add(&next_id, 1);
        node->index = graph->count;
        graph->nodes[graph->count++] = node;
    }
    return node;
}

static void node_free(struct CUgraphNode_st *node)
{
    graph_work_free(&node->work);
    free(node->dependencies.edges);
    free(node->dependents.edges);
    pool_give(&node_pool, node);
}

static void node_remove(struct CUgraphNode_st *node)
{
    CUgraph graph = node->graph;
    graph_edges_detach(node);
    for (size_t i = node->index + 1; i < graph->count; i++) {
        graph->nodes[i]->index--;
        graph->nodes[i - 1] = graph->nodes[i];
    }
    graph->count--;
    node_free(node);
}

CUresult graph_add(CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count,
                   struct graph_work *work, CUgraphNode *out)
{
    CUresult result = graph_edges_check(graph, dependencies, data, count);
    struct CUgraphNode_st *node = result == CUDA_SUCCESS ? node_make(graph) : NULL;
    if (!node) {
        graph_work_free(work);
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->work = *work;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = graph_edge_add(dependencies[i], node, data ? &data[i] : NULL);
    }
    if (result != CUDA_SUCCESS) {
        node_remove(node);
        return result;
    }
    *out = node;
    return CUDA_SUCCESS;
}

CUresult graph_replace(struct CUgraphNode_st *node, struct graph_work *work)
{
    CUresult result = work->type == node->work.type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && work->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        result = graph_kernel_copy_attributes(&node->work.kernel, &work->kernel);
    }
    if (result != CUDA_SUCCESS) {
        graph_work_free(work);
        return result;
    }
    graph_work_free(&node->work);
    node->work = *work;
    return CUDA_SUCCESS;
}

/* --- graphs -------------------------------------------------------------------------------------------- */

void graph_free(CUgraph graph)
{
    if (!graph) {
        return;
    }
    for (size_t i = 0; i < graph->count; i++) {
        node_free(graph->nodes[i]);
    }
    free(graph->nodes);
    free(graph->order);
    graph_user_references_free(graph);
    pool_give(&graph_pool, graph);
}

static CUresult copy_node(const struct CUgraphNode_st *original, CUgraph copy)
{
    struct CUgraphNode_st *node = node_make(copy);
    if (!node) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->work.type = CU_GRAPH_NODE_TYPE_EMPTY;
    node->origin = original->id;
    node->is_disabled = original->is_disabled;
    return graph_work_copy(&original->work, &node->work);
}

static CUresult copy_edges(const struct CUgraphNode_st *original, CUgraph copy)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < original->dependencies.count && result == CUDA_SUCCESS; i++) {
        const struct graph_edge *edge = &original->dependencies.edges[i];
        result = graph_edge_add(copy->nodes[edge->node->index], copy->nodes[original->index], &edge->data);
    }
    return result;
}

CUresult graph_copy(CUgraph graph, CUgraph *out)
{
    CUgraph copy = graph_make();
    CUresult result = copy ? graph_user_references_copy(graph, copy) : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        result = copy_node(graph->nodes[i], copy);
    }
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        result = copy_edges(graph->nodes[i], copy);
    }
    if (result != CUDA_SUCCESS) {
        graph_free(copy);
        return result;
    }
    *out = copy;
    return CUDA_SUCCESS;
}

struct CUgraphNode_st *graph_find_copy(CUgraph graph, const struct CUgraphNode_st *original, bool deep)
{
    struct CUgraphNode_st *found = NULL;
    for (size_t i = 0; i < graph->count && !found; i++) {
        struct CUgraphNode_st *node = graph->nodes[i];
        if (node->origin == original->id) {
            found = node;
        } else if (deep && node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            found = graph_find_copy(node->work.child, original, true);
        }
    }
    return found;
}

bool graph_contains(CUgraph graph, CUgraphNodeType type)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_work *work = &graph->nodes[i]->work;
        if (work->type == type ||
            (work->type == CU_GRAPH_NODE_TYPE_GRAPH && graph_contains(work->child, type))) {
            return true;
        }
    }
    return false;
}

/* --- order --------------------------------------------------------------------------------------------- */

/* Kahn's algorithm; of the nodes that are ready the oldest comes first. `waiting` counts each node's
 * dependencies. */
static size_t fill_order(CUgraph graph, size_t *waiting)
{
    size_t ordered = 0;
    for (size_t i = 0; i < graph->count; i++) {
        waiting[i] = graph->nodes[i]->dependencies.count;
        if (waiting[i] == 0) {
            graph->order[ordered++] = graph->nodes[i];
        }
    }
    for (size_t next = 0; next < ordered; next++) {
        const struct graph_edges *dependents = &graph->order[next]->dependents;
        for (size_t i = 0; i < dependents->count; i++) {
            struct CUgraphNode_st *dependent = dependents->edges[i].node;
            if (--waiting[dependent->index] == 0) {
                graph->order[ordered++] = dependent;
            }
        }
    }
    return ordered;
}

static CUresult order_nodes(CUgraph graph, CUgraphNode *offender)
{
    size_t *waiting = malloc(graph->count * sizeof(*waiting));
    graph->order = malloc(graph->count * sizeof(struct CUgraphNode_st *));
    CUresult result = waiting && graph->order ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS && fill_order(graph, waiting) != graph->count) {
        result = CUDA_ERROR_INVALID_VALUE;
        for (size_t i = 0; i < graph->count; i++) {
            *offender = waiting[i] ? graph->nodes[i] : *offender;
        }
    }
    free(waiting);
    return result;
}

CUresult graph_order(CUgraph graph, CUgraphNode *offender)
{
    CUresult result = graph->count ? order_nodes(graph, offender) : CUDA_SUCCESS;
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        struct graph_work *work = &graph->nodes[i]->work;
        if (work->type == CU_GRAPH_NODE_TYPE_GRAPH) {
            result = graph_order(work->child, offender);
        }
    }
    return result;
}

/* --- exported ------------------------------------------------------------------------------------------ */

CUresult CUDAAPI cuGraphCreate(CUgraph *graph, unsigned flags)
{
    ENTER(cuGraphCreate);
    REQUIRE(graph && flags == 0);
    *graph = graph_make();
    return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuGraphDestroy(CUgraph graph)
{
    ENTER(cuGraphDestroy);
    REQUIRE_GRAPH(graph, cuGraphDestroy);
    REQUIRE(!graph->is_owned && !graph->is_capturing);
    graph_free(graph);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphClone(CUgraph *clone, CUgraph original)
{
    ENTER(cuGraphClone);
    REQUIRE(clone);
    REQUIRE_GRAPH(original, cuGraphClone);
    if (graph_contains(original, CU_GRAPH_NODE_TYPE_MEM_ALLOC) ||
        graph_contains(original, CU_GRAPH_NODE_TYPE_MEM_FREE)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return graph_copy(original, clone);
}

CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode *found, CUgraphNode original, CUgraph clone)
{
    ENTER(cuGraphNodeFindInClone);
    REQUIRE(found);
    REQUIRE_NODE(original, cuGraphNodeFindInClone);
    REQUIRE_GRAPH(clone, cuGraphNodeFindInClone);
    struct CUgraphNode_st *node = graph_find_copy(clone, original, false);
    REQUIRE(node);
    *found = node;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode node)
{
    ENTER(cuGraphDestroyNode);
    REQUIRE_NODE(node, cuGraphDestroyNode);
    REQUIRE(!node->graph->is_capturing);
    if (node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    node_remove(node);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    ENTER(cuGraphNodeGetType);
    REQUIRE(type);
    REQUIRE_NODE(node, cuGraphNodeGetType);
    *type = node->work.type;
    return CUDA_SUCCESS;
}
