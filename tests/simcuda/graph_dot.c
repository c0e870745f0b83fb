/* cuGraphDebugDotPrint: a graph as text for Graphviz, child graphs as clusters. */
#include "graph.h"
#include "require.h"

#include <stdio.h>

static const char *type_name(CUgraphNodeType type)
{
    static const char *const names[] = {
        "kernel",           "memcpy",         "memset",       "host",
        "child graph",      "empty",          "event wait",   "event record",
        "semaphore signal", "semaphore wait", "memory alloc", "memory free",
        "batch memory op",  "conditional",
    };
    return (unsigned)type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}

static void print_node(FILE *out, const struct CUgraphNode_st *node)
{
    const struct graph_work *work = &node->work;
    fprintf(out, "  n%llu [label=\"%s", (unsigned long long)node->id, type_name(work->type));
    if (work->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const struct launch_request *request = &work->kernel.request;
        fprintf(out, "\\n%s\\n<<<%u,%u,%u; %u,%u,%u; %u>>>", request->function->code->name, request->grid[0],
                request->grid[1], request->grid[2], request->block[0], request->block[1], request->block[2],
                request->dynamic_shared_bytes);
    }
    fprintf(out, "\"];\n");
}

static void print_nodes(FILE *out, CUgraph graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        print_node(out, node);
        for (size_t j = 0; j < node->dependencies.count; j++) {
            fprintf(out, "  n%llu -> n%llu;\n", (unsigned long long)node->dependencies.edges[j].node->id,
                    (unsigned long long)node->id);
        }
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            fprintf(out, "  subgraph cluster_n%llu {\n", (unsigned long long)node->id);
            print_nodes(out, node->work.child);
            fprintf(out, "  }\n");
        }
    }
}

CUresult CUDAAPI cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags)
{
    ENTER(cuGraphDebugDotPrint);
    (void)flags; /* what they add is not known here */
    REQUIRE(path);
    REQUIRE_GRAPH(graph, cuGraphDebugDotPrint);
    FILE *out = fopen(path, "w");
    if (!out) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    fprintf(out, "digraph graph_%p {\n", (void *)graph);
    print_nodes(out, graph);
    fprintf(out, "}\n");
    return fclose(out) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
