/* Reads a graph's nodes from the driver. */
#include "graph_nodes.h"

#include <string.h>

#include "graph_edges.h"
#include "memory.h"
#include "store_format.h"

enum { FIRST_NODES = 64, MOST_NODES = 1 << 24, DEEPEST = 64 };

#define ASK(query, ...) (driver_query()->query && driver_query()->query(__VA_ARGS__) == CUDA_SUCCESS)

static uint64_t list_bytes(uint32_t capacity)
{
    return (uint64_t)capacity * sizeof(struct graph_node);
}

void graph_nodes_release(struct graph_nodes *nodes)
{
    memory_unmap(nodes->list, list_bytes(nodes->capacity));
    graph_edges_release(nodes);
    *nodes = (struct graph_nodes){0};
}

static struct graph_node *append(struct graph_nodes *nodes)
{
    if (nodes->count == nodes->capacity) {
        uint32_t capacity = nodes->capacity ? nodes->capacity * 2 : FIRST_NODES;
        struct graph_node *list = capacity <= MOST_NODES ? memory_map(list_bytes(capacity)) : NULL;
        if (list == NULL) {
            nodes->incomplete = true;
            return NULL;
        }
        if (nodes->count) {
            memcpy(list, nodes->list, list_bytes(nodes->count));
        }
        memory_unmap(nodes->list, list_bytes(nodes->capacity));
        nodes->list = list;
        nodes->capacity = capacity;
    }
    return &nodes->list[nodes->count++];
}

static bool read_parameters(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
    memset(parameters, 0, sizeof *parameters);
    if (driver_query()->cuGraphKernelNodeGetParams_v2) {
        return ASK(cuGraphKernelNodeGetParams_v2, node, parameters);
    }
    /* Drivers before 12.0: the structure is a prefix of the newer one. */
    return ASK(cuGraphKernelNodeGetParams, node, (CUDA_KERNEL_NODE_PARAMS_v1 *)parameters);
}

void graph_node_set_kernel(struct graph_node *node, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
    struct launch launch;
    launch_unpack(&node->words, NULL, &launch);
    launch.function = parameters->func ? (void *)parameters->func : (void *)parameters->kern;
    memcpy(launch.grid, (uint32_t[]){parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ}, 12);
    memcpy(launch.block, (uint32_t[]){parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ},
           12);
    launch.shared_bytes = parameters->sharedMemBytes;
    launch_pack(&launch, &node->words);
    node->words.place = parameters->func ? 0 : (uint64_t)(uintptr_t)parameters->ctx;
    node->configuration = STORE_NO_TARGET;
}

static void read_attributes(CUgraphNode node, struct launch *launch, bool *updatable)
{
    CUkernelNodeAttrValue value;
    if (ASK(cuGraphKernelNodeGetAttribute, node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value)) {
        memcpy(launch->cluster, (uint32_t[]){value.clusterDim.x, value.clusterDim.y, value.clusterDim.z}, 12);
    }
    if (ASK(cuGraphKernelNodeGetAttribute, node, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, &value)) {
        memcpy(launch->preferred_cluster,
               (uint32_t[]){value.preferredClusterDim.x, value.preferredClusterDim.y,
                            value.preferredClusterDim.z},
               12);
    }
    if (ASK(cuGraphKernelNodeGetAttribute, node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) &&
        value.cooperative) {
        launch->flags |= LAUNCH_COOPERATIVE;
    }
    *updatable =
        ASK(cuGraphKernelNodeGetAttribute, node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value) &&
        value.deviceUpdatableKernelNode.deviceUpdatable;
}

static void read_kernel(CUgraphNode node, struct graph_node *entry, struct graph_nodes *nodes)
{
    CUDA_KERNEL_NODE_PARAMS_v2 parameters;
    if (!read_parameters(node, &parameters)) {
        nodes->incomplete = true;
        return;
    }
    struct launch launch = {0};
    bool updatable;
    read_attributes(node, &launch, &updatable);
    launch_pack(&launch, &entry->words);
    graph_node_set_kernel(entry, &parameters);
    entry->kind = updatable ? GRAPH_NODE_UPDATABLE : GRAPH_NODE_KERNEL;
}

static void read_graph(CUgraph graph, uint32_t parent, uint32_t depth, struct graph_nodes *nodes);

static void read_child(CUgraphNode node, uint32_t depth, struct graph_nodes *nodes)
{
    CUgraph child;
    if (depth < DEEPEST && ASK(cuGraphChildGraphNodeGetGraph, node, &child)) {
        read_graph(child, nodes->count, depth + 1, nodes);
    } else {
        nodes->incomplete = true;
    }
}

static void read_node(CUgraphNode node, uint32_t parent, uint32_t depth, struct graph_nodes *nodes)
{
    CUgraphNodeType type;
    struct graph_node *entry = append(nodes);
    if (entry == NULL || !ASK(cuGraphNodeGetType, node, &type)) {
        nodes->incomplete = true;
        return;
    }
    *entry = (struct graph_node){.node = node, .parent = parent, .configuration = STORE_NO_TARGET};
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        read_kernel(node, entry, nodes);
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        entry->kind = GRAPH_NODE_CONDITIONAL;
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        entry->kind = GRAPH_NODE_CHILD;
        read_child(node, depth, nodes);
        return;
    default:
        return;
    }
    nodes->launches = true;
}

static void read_graph(CUgraph graph, uint32_t parent, uint32_t depth, struct graph_nodes *nodes)
{
    size_t count = 0;
    if (!ASK(cuGraphGetNodes, graph, NULL, &count)) {
        nodes->incomplete = true;
        return;
    }
    uint64_t bytes = count * (sizeof(CUgraphNode) + sizeof(uint32_t));
    CUgraphNode *list = count ? memory_map(bytes) : NULL;
    uint32_t *numbers = list ? (uint32_t *)(list + count) : NULL;
    if (list == NULL || !ASK(cuGraphGetNodes, graph, list, &count)) {
        nodes->incomplete = nodes->incomplete || count > 0;
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        numbers[i] = nodes->count;
        read_node(list[i], parent, depth, nodes);
    }
    if (count > 1 && !nodes->incomplete) {
        graph_edges_read(graph, &(struct graph_level){list, numbers, (uint32_t)count}, nodes);
    }
    memory_unmap(list, bytes);
}

void graph_nodes_read(CUgraph graph, bool edges, struct graph_nodes *nodes)
{
    nodes->edges_unknown = !edges;
    read_graph(graph, 0, 0, nodes);
}

bool graph_nodes_match(struct graph_node *nodes, uint32_t count, const struct graph_nodes *other)
{
    bool match = count == other->count && !other->incomplete;
    for (uint32_t i = 0; i < count && match; i++) {
        match = nodes[i].kind == other->list[i].kind;
    }
    for (uint32_t i = 0; i < count && match; i++) {
        if (memcmp(&nodes[i].words, &other->list[i].words, sizeof nodes[i].words) != 0) {
            nodes[i].words = other->list[i].words;
            nodes[i].configuration = STORE_NO_TARGET;
        }
    }
    return match;
}
