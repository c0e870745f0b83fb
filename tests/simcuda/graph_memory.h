/* Memory that the allocation nodes of graphs own. It lies at one address for as long as there is a graph with
 * the node, as in the documentation; in between it is allocated and freed by launches, and freed by the
 * client. */
#ifndef SIMCUDA_GRAPH_MEMORY_H
#define SIMCUDA_GRAPH_MEMORY_H

#include "graph.h"

struct graph_allocation {
    struct graph_allocation *next, **link; /* of all */
    unsigned references;                   /* nodes, copies included */
    bool is_live;                          /* allocated by a launch and not freed since */
    CUDA_MEM_ALLOC_NODE_PARAMS parameters; /* access descriptors included */
};

CUresult graph_describe_allocation(CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct graph_work *work);
/* Memory that cuMemAllocAsync has reserved for a capturing stream. */
CUresult graph_describe_captured_allocation(struct CUctx_st *context, CUdeviceptr address, size_t bytes,
                                            struct graph_work *work);
CUresult graph_describe_free(CUdeviceptr address, struct graph_work *work);

void graph_memory_retain(struct graph_allocation *allocation);
void graph_memory_release(struct graph_allocation *allocation);

/* What a launch of `graph` does to its memory, before the launch: INVALID_VALUE if some of it is still
 * allocated and that is not to be freed. */
CUresult graph_memory_launch(CUgraph graph, bool free_first);
/* The client frees memory of kind MEMORY_GRAPH: INVALID_VALUE unless it is allocated. */
CUresult graph_memory_client_frees(CUdeviceptr address);

#endif
