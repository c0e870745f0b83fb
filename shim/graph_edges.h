/* Reads a graph's edges from the driver. */
#ifndef WARPWATCH_GRAPH_EDGES_H
#define WARPWATCH_GRAPH_EDGES_H

#include "graph_nodes.h"

/* The nodes of one graph, without those of its child graphs. */
struct graph_level {
    const CUgraphNode *nodes;
    const uint32_t *numbers; /* in the list of all nodes */
    uint32_t count;
};

/* Appends the edges between these nodes, unless some are unknown by now. */
void graph_edges_read(CUgraph graph, const struct graph_level *level, struct graph_nodes *nodes);
void graph_edges_release(struct graph_nodes *nodes);

#endif
