/* Graphs: nodes with the work they stand for, edges, and executable copies.
 *
 * As the documentation says of graphs, nothing here is safe against two threads that use the same graph;
 * distinct graphs are independent. Capture (capture.c) takes a lock of its own before it adds nodes. */
#ifndef SIMCUDA_GRAPH_H
#define SIMCUDA_GRAPH_H

#include "function.h"
#include "object.h"
#include "operation.h"

/* --- what a node does (graph_work.c, graph_kernel.c) --------------------------------------------------- */

struct graph_kernel {
    struct launch_request request; /* its pointers lead to what this structure owns */
    bool by_kernel;                /* given as CUkernel: parameters are answered in that form */
    void *arguments;               /* one block: an array of pointers, then the values */
    CUlaunchAttribute *attributes;
};

struct graph_conditional {
    CUgraphConditionalHandle handle;
    CUgraphConditionalNodeType type;
    CUcontext context;
    unsigned bodies_count;
    CUgraph *bodies;
};

struct graph_work {
    CUgraphNodeType type;
    union {
        struct graph_kernel kernel;
        struct {
            CUDA_MEMCPY3D parameters;
            CUcontext context;
        } copy;
        CUDA_MEMSET_NODE_PARAMS_v2 fill;
        CUDA_HOST_NODE_PARAMS_v2 host;
        CUevent event;
        CUgraph child; /* owned */
        struct graph_allocation *allocation;
        CUdeviceptr freed;
        CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 words; /* its array is owned */
        struct graph_conditional conditional;
    };
};

/* Each takes the parameters of the API, checks them and copies whatever they point to. On an error `work`
 * holds nothing that would have to be freed. */
CUresult graph_describe(enum call call, CUgraphNodeParams *parameters, struct graph_work *work);
CUresult graph_describe_kernel(enum call call, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters,
                               struct graph_work *work);
CUresult graph_describe_kernel_v1(enum call call, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters,
                                  struct graph_work *work);
CUresult graph_describe_launch(const struct launch_request *request, struct graph_work *work);
CUresult graph_describe_copy(const CUDA_MEMCPY3D *parameters, CUcontext context, struct graph_work *work);
CUresult graph_describe_fill(const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context,
                             struct graph_work *work);
CUresult graph_describe_host(CUhostFn function, void *data, struct graph_work *work);
CUresult graph_describe_event(enum call call, CUgraphNodeType type, CUevent event, struct graph_work *work);
CUresult graph_describe_child(enum call call, CUgraph child, struct graph_work *work);
CUresult graph_describe_words(const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters, struct graph_work *work);

CUresult graph_work_copy(const struct graph_work *from, struct graph_work *to);
void graph_work_free(struct graph_work *work);

/* The parameters of a kernel with the attributes and launch shape of `kernel`. */
void graph_kernel_parameters(const struct graph_kernel *kernel, CUDA_KERNEL_NODE_PARAMS_v2 *parameters);
/* Whether nodes have the launch attribute; those that concern the stream they do not keep. */
bool graph_kernel_keeps_attribute(CUlaunchAttributeID id);
/* NULL if the attribute was never set. */
const CUlaunchAttribute *graph_kernel_attribute(const struct graph_kernel *kernel, CUlaunchAttributeID id);
CUresult graph_kernel_set_attribute(struct graph_kernel *kernel, CUlaunchAttributeID id,
                                    const CUlaunchAttributeValue *value);
CUresult graph_kernel_copy(const struct graph_kernel *from, struct graph_kernel *to);
void graph_kernel_free(struct graph_kernel *kernel);
CUresult graph_kernel_copy_attributes(const struct graph_kernel *from, struct graph_kernel *to);

/* --- graphs (graph.c) ---------------------------------------------------------------------------------- */

struct graph_edge {
    struct CUgraphNode_st *node;
    CUgraphEdgeData data;
};

struct graph_edges {
    struct graph_edge *edges;
    size_t count, room;
};

struct CUgraphNode_st {
    struct object object;
    struct CUgraph_st *graph;
    size_t index;                    /* in graph->nodes */
    uint64_t id;                     /* unique in the process */
    uint64_t origin;                 /* id of the node that this one is a copy of, or 0 */
    struct CUgraphNode_st *partner;  /* graph_update.c, while it pairs two graphs */
    bool is_disabled;                /* in an executable graph */
    struct graph_edges dependencies; /* in the order in which they were added */
    struct graph_edges dependents;
    struct graph_work work;
};

struct CUgraph_st {
    struct object object;
    struct CUgraphNode_st **nodes; /* by age */
    size_t count, room;
    struct CUgraphNode_st **order;      /* of an executable graph: an order of execution; else NULL */
    bool is_owned;                      /* by a node: a child graph or the body of a conditional node */
    bool is_capturing;                  /* a capture adds nodes to it */
    struct graph_user_reference *users; /* graph_user_object.c */
};

CUgraph graph_make(void);
void graph_free(CUgraph graph);
/* A deep copy; each node's origin is the id of the node it was copied from. */
CUresult graph_copy(CUgraph graph, CUgraph *copy);
/* Takes over `work`, also when it fails. `data` may be NULL. */
CUresult graph_add(CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count,
                   struct graph_work *work, CUgraphNode *node);
/* Replaces the work of a node by other work of the same type, and takes it over. */
CUresult graph_replace(struct CUgraphNode_st *node, struct graph_work *work);
/* Sets `order`, of child graphs too. INVALID_VALUE, and one of the nodes in `offender`, if there is a cycle.
 */
CUresult graph_order(CUgraph graph, CUgraphNode *offender);
/* The copy of `original` in `graph` or, with `deep`, in one of its child graphs; NULL without one. */
struct CUgraphNode_st *graph_find_copy(CUgraph graph, const struct CUgraphNode_st *original, bool deep);
bool graph_contains(CUgraph graph, CUgraphNodeType type);

/* INVALID_VALUE, as graph functions say of a handle that is none; a dead one is a fault too. */
CUresult graph_refuse(const void *handle, enum call call);

#define REQUIRE_OBJECT(handle, kind, symbol)                                                                 \
    do {                                                                                                     \
        if (!object_is(handle, kind)) {                                                                      \
            return graph_refuse(handle, CALL_##symbol);                                                      \
        }                                                                                                    \
    } while (0)
#define REQUIRE_GRAPH(graph, symbol)     REQUIRE_OBJECT(graph, OBJECT_GRAPH, symbol)
#define REQUIRE_NODE(node, symbol)       REQUIRE_OBJECT(node, OBJECT_GRAPH_NODE, symbol)
#define REQUIRE_GRAPH_EXEC(exec, symbol) REQUIRE_OBJECT(exec, OBJECT_GRAPH_EXEC, symbol)

/* --- executable graphs (graph_exec.c, graph_update.c) -------------------------------------------------- */

struct CUgraphExec_st {
    struct object object;
    CUgraph graph; /* owned; the origins of its nodes are the nodes of the graph it was made from */
    uint64_t flags;
};

/* What a launch under capture adds to the graph: the nodes of `exec`, disabled ones as empty ones. */
CUresult graph_describe_exec(CUgraphExec exec, struct graph_work *work);

/* graph_user_object.c */
void graph_user_references_free(CUgraph graph);
CUresult graph_user_references_copy(CUgraph from, CUgraph to);

#endif
