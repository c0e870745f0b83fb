/* Which kernels of a graph may run beside another one of the same replay. */
#ifndef WARPWATCH_GRAPH_ORDER_H
#define WARPWATCH_GRAPH_ORDER_H

#include "graph_nodes.h"

/* Sets `beside` of every node that launches: false where its edges put each other such node either before or
 * after it. False: memory is short, or the edges make no graph; then nothing is known. */
bool graph_order_find(struct graph_nodes *nodes);

#endif
