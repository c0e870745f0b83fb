/* Edges between the nodes of a graph. Each is kept at both ends. */
#ifndef SIMCUDA_GRAPH_EDGES_H
#define SIMCUDA_GRAPH_EDGES_H

#include "graph.h"

/* Whether `nodes` are distinct nodes of the graph, and the data of their edges valid. */
CUresult graph_edges_check(CUgraph graph, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                           size_t count);
/* `data` may be NULL: an edge of the default kind. */
CUresult graph_edge_add(struct CUgraphNode_st *from, struct CUgraphNode_st *to, const CUgraphEdgeData *data);
/* Removes all edges of a node. */
void graph_edges_detach(struct CUgraphNode_st *node);

bool graph_edge_is_default(const CUgraphEdgeData *data);

#endif
