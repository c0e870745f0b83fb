/* Edges: adding, removing and the queries about them, with and without edge data. */
#include "graph_edges.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

static const CUgraphEdgeData default_edge;

bool graph_edge_is_default(const CUgraphEdgeData *data)
{
    return memcmp(data, &default_edge, sizeof(default_edge)) == 0;
}

static bool data_is_valid(const CUgraphEdgeData *data)
{
    static const unsigned char zeros[sizeof(data->reserved)];
    return data->type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && data->to_port == 0 &&
           data->from_port <= CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER &&
           memcmp(data->reserved, zeros, sizeof(zeros)) == 0;
}

/* --- one end ------------------------------------------------------------------------------------------- */

static struct graph_edge *find(const struct graph_edges *list, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->edges[i].node == node) {
            return &list->edges[i];
        }
    }
    return NULL;
}

static bool append(struct graph_edges *list, struct CUgraphNode_st *node, const CUgraphEdgeData *data)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 4;
        struct graph_edge *edges = realloc(list->edges, room * sizeof(*edges));
        if (!edges) {
            return false;
        }
        list->edges = edges;
        list->room = room;
    }
    list->edges[list->count++] = (struct graph_edge){node, *data};
    return true;
}

/* Keeps the order of the others. */
static void erase(struct graph_edges *list, const struct CUgraphNode_st *node)
{
    struct graph_edge *edge = find(list, node);
    if (edge) {
        size_t after = (size_t)(list->edges + list->count - (edge + 1));
        memmove(edge, edge + 1, after * sizeof(*edge));
        list->count--;
    }
}

/* --- both ends ----------------------------------------------------------------------------------------- */

CUresult graph_edge_add(struct CUgraphNode_st *from, struct CUgraphNode_st *to, const CUgraphEdgeData *data)
{
    if (!data) {
        data = &default_edge;
    }
    if (!append(&to->dependencies, from, data)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!append(&from->dependents, to, data)) {
        to->dependencies.count--;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

static void edge_remove(struct CUgraphNode_st *from, struct CUgraphNode_st *to)
{
    erase(&to->dependencies, from);
    erase(&from->dependents, to);
}

void graph_edges_detach(struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < node->dependencies.count; i++) {
        erase(&node->dependencies.edges[i].node->dependents, node);
    }
    for (size_t i = 0; i < node->dependents.count; i++) {
        erase(&node->dependents.edges[i].node->dependencies, node);
    }
}

static bool belongs(CUgraph graph, const struct CUgraphNode_st *node)
{
    return object_is(node, OBJECT_GRAPH_NODE) && node->graph == graph;
}

static bool has_duplicate(const CUgraphNode *nodes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (nodes[i] == nodes[j]) {
                return true;
            }
        }
    }
    return false;
}

CUresult graph_edges_check(CUgraph graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count)
{
    REQUIRE(count == 0 || nodes);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(belongs(graph, nodes[i]) && (!data || data_is_valid(&data[i])));
    }
    return has_duplicate(nodes, count) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* --- exported: changing -------------------------------------------------------------------------------- */

static CUresult check_pairs(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count,
                            bool existing)
{
    REQUIRE(count == 0 || (from && to));
    for (size_t i = 0; i < count; i++) {
        REQUIRE(belongs(graph, from[i]) && belongs(graph, to[i]) && from[i] != to[i]);
        REQUIRE((find(&to[i]->dependencies, from[i]) != NULL) == existing);
    }
    return CUDA_SUCCESS;
}

static CUresult add_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                 const CUgraphEdgeData *data, size_t count)
{
    TRY(check_pairs(graph, from, to, count, false));
    for (size_t i = 0; i < count; i++) {
        REQUIRE(!data || data_is_valid(&data[i]));
    }
    for (size_t i = 0; i < count; i++) {
        TRY(graph_edge_add(from[i], to[i], data ? &data[i] : NULL));
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                        size_t count)
{
    ENTER(cuGraphAddDependencies);
    REQUIRE_GRAPH(graph, cuGraphAddDependencies);
    return add_dependencies(graph, from, to, NULL, count);
}

CUresult CUDAAPI cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                           const CUgraphEdgeData *data, size_t count)
{
    ENTER(cuGraphAddDependencies_v2);
    REQUIRE_GRAPH(graph, cuGraphAddDependencies_v2);
    return add_dependencies(graph, from, to, data, count);
}

/* An edge is removed only by naming its data; without data the default is meant. */
static CUresult remove_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                    const CUgraphEdgeData *data, size_t count)
{
    TRY(check_pairs(graph, from, to, count, true));
    for (size_t i = 0; i < count; i++) {
        const CUgraphEdgeData *named = data ? &data[i] : &default_edge;
        const struct graph_edge *edge = find(&to[i]->dependencies, from[i]);
        REQUIRE(memcmp(&edge->data, named, sizeof(*named)) == 0);
    }
    for (size_t i = 0; i < count; i++) {
        edge_remove(from[i], to[i]);
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                           size_t count)
{
    ENTER(cuGraphRemoveDependencies);
    REQUIRE_GRAPH(graph, cuGraphRemoveDependencies);
    return remove_dependencies(graph, from, to, NULL, count);
}

CUresult CUDAAPI cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                              const CUgraphEdgeData *data, size_t count)
{
    ENTER(cuGraphRemoveDependencies_v2);
    REQUIRE_GRAPH(graph, cuGraphRemoveDependencies_v2);
    return remove_dependencies(graph, from, to, data, count);
}

/* --- exported: asking ---------------------------------------------------------------------------------- */

/* Where a query writes. Beyond what there is, entries become NULL; *count gets what there is or, with room
 * for fewer, stays. */
struct answer {
    CUgraphNode *from, *to; /* each may be NULL */
    CUgraphEdgeData *data;
    size_t room, written;
};

static void answer_add(struct answer *answer, CUgraphNode from, CUgraphNode to, const CUgraphEdgeData *data)
{
    size_t i = answer->written++;
    if (i >= answer->room) {
        return;
    }
    if (answer->from) {
        answer->from[i] = from;
    }
    if (answer->to) {
        answer->to[i] = to;
    }
    if (answer->data) {
        answer->data[i] = data ? *data : default_edge;
    }
}

static void answer_end(const struct answer *answer, size_t *count)
{
    for (size_t i = answer->written; i < answer->room; i++) {
        if (answer->from) {
            answer->from[i] = NULL;
        }
        if (answer->to) {
            answer->to[i] = NULL;
        }
    }
    *count = answer->room && answer->room < answer->written ? answer->room : answer->written;
}

static CUresult answer_nodes(CUgraph graph, bool roots_only, CUgraphNode *nodes, size_t *count)
{
    REQUIRE(count);
    struct answer answer = {.from = nodes, .room = nodes ? *count : 0};
    for (size_t i = 0; i < graph->count; i++) {
        if (!roots_only || graph->nodes[i]->dependencies.count == 0) {
            answer_add(&answer, graph->nodes[i], NULL, NULL);
        }
    }
    answer_end(&answer, count);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    ENTER(cuGraphGetNodes);
    REQUIRE_GRAPH(graph, cuGraphGetNodes);
    return answer_nodes(graph, false, nodes, count);
}

CUresult CUDAAPI cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    ENTER(cuGraphGetRootNodes);
    REQUIRE_GRAPH(graph, cuGraphGetRootNodes);
    return answer_nodes(graph, true, nodes, count);
}

static bool all_default(const struct graph_edges *list)
{
    bool plain = true;
    for (size_t i = 0; i < list->count && plain; i++) {
        plain = graph_edge_is_default(&list->edges[i].data);
    }
    return plain;
}

static CUresult answer_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                             size_t *count)
{
    REQUIRE(count && !from == !to && (!data || from));
    struct answer answer = {.from = from, .to = to, .data = data, .room = from ? *count : 0};
    for (size_t i = 0; i < graph->count; i++) {
        struct CUgraphNode_st *node = graph->nodes[i];
        if (from && !data && !all_default(&node->dependencies)) {
            return CUDA_ERROR_LOSSY_QUERY;
        }
        for (size_t j = 0; j < node->dependencies.count; j++) {
            const struct graph_edge *edge = &node->dependencies.edges[j];
            answer_add(&answer, edge->node, node, &edge->data);
        }
    }
    answer_end(&answer, count);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    ENTER(cuGraphGetEdges);
    REQUIRE_GRAPH(graph, cuGraphGetEdges);
    return answer_edges(graph, from, to, NULL, count);
}

CUresult CUDAAPI cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                                    size_t *count)
{
    ENTER(cuGraphGetEdges_v2);
    REQUIRE_GRAPH(graph, cuGraphGetEdges_v2);
    return answer_edges(graph, from, to, data, count);
}

static CUresult answer_list(const struct graph_edges *list, CUgraphNode *nodes, CUgraphEdgeData *data,
                            size_t *count)
{
    REQUIRE(count && (!data || nodes));
    if (nodes && !data && !all_default(list)) {
        return CUDA_ERROR_LOSSY_QUERY;
    }
    struct answer answer = {.from = nodes, .data = data, .room = nodes ? *count : 0};
    for (size_t i = 0; i < list->count; i++) {
        answer_add(&answer, list->edges[i].node, NULL, &list->edges[i].data);
    }
    answer_end(&answer, count);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies, size_t *count)
{
    ENTER(cuGraphNodeGetDependencies);
    REQUIRE_NODE(node, cuGraphNodeGetDependencies);
    return answer_list(&node->dependencies, dependencies, NULL, count);
}

CUresult CUDAAPI cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *dependencies,
                                               CUgraphEdgeData *data, size_t *count)
{
    ENTER(cuGraphNodeGetDependencies_v2);
    REQUIRE_NODE(node, cuGraphNodeGetDependencies_v2);
    return answer_list(&node->dependencies, dependencies, data, count);
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *dependents, size_t *count)
{
    ENTER(cuGraphNodeGetDependentNodes);
    REQUIRE_NODE(node, cuGraphNodeGetDependentNodes);
    return answer_list(&node->dependents, dependents, NULL, count);
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *dependents,
                                                 CUgraphEdgeData *data, size_t *count)
{
    ENTER(cuGraphNodeGetDependentNodes_v2);
    REQUIRE_NODE(node, cuGraphNodeGetDependentNodes_v2);
    return answer_list(&node->dependents, dependents, data, count);
}
