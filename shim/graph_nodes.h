/* The nodes of a graph and their order, as one replay runs them. */
#ifndef WARPWATCH_GRAPH_NODES_H
#define WARPWATCH_GRAPH_NODES_H

#include "launch.h"

enum graph_node_kind {
    GRAPH_NODE_OTHER, /* launches nothing: a copy, an event, a host function */
    GRAPH_NODE_KERNEL,
    GRAPH_NODE_CHILD,       /* its nodes follow it in the list, each with it as parent */
    GRAPH_NODE_CONDITIONAL, /* runs as often as the GPU decides */
    GRAPH_NODE_UPDATABLE    /* a kernel that the GPU may change */
};

struct graph_node {
    CUgraphNode node;
    struct launch_words words; /* place: its context, 0 if the handle says it */
    uint32_t parent;        /* number of the child-graph node that it is in; 0 at the top, counted from 1 */
    uint32_t configuration; /* STORE_NO_TARGET: not looked up yet */
    uint32_t kernel;
    uint8_t kind;
    bool disabled;
    bool programmatic; /* may begin before the kernel ahead of it has ended */
    bool beside;       /* may run beside another one of the graph: see graph_order.h */
};

/* By their numbers in the list; both are of one graph, or of one child graph. */
struct graph_edge {
    uint32_t from, to;
};

struct graph_nodes {
    struct graph_node *list;
    uint32_t count, capacity;
    struct graph_edge *edges;
    uint32_t edge_count, edge_capacity;
    bool launches;      /* some of them do */
    bool incomplete;    /* the driver or memory failed us: launches of it cannot be counted exactly */
    bool edges_unknown; /* likewise, or not wanted */
};

/* Asks the driver for all nodes of a graph, child graphs included, and for the edges if they are wanted. */
void graph_nodes_read(CUgraph graph, bool edges, struct graph_nodes *nodes);
void graph_nodes_release(struct graph_nodes *nodes);
/* New parameters of a kernel node; what only its attributes say (cluster, cooperative) stays. */
void graph_node_set_kernel(struct graph_node *node, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters);
/* Gives the nodes from `first` on the parameters of another list with the same nodes in the same order.
 * False, and nothing changed, if the lists do not match. */
bool graph_nodes_match(struct graph_node *nodes, uint32_t count, const struct graph_nodes *other);

static inline bool graph_node_launches(const struct graph_node *node)
{
    return node->kind != GRAPH_NODE_OTHER && node->kind != GRAPH_NODE_CHILD;
}

/* Neither it nor a child graph that it is in is disabled. */
static inline bool graph_node_runs(const struct graph_nodes *nodes, uint32_t number)
{
    const struct graph_node *node = &nodes->list[number];
    while (!node->disabled && node->parent) {
        node = &nodes->list[node->parent - 1];
    }
    return !node->disabled;
}

#endif
