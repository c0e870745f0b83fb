/* Replays a graph that its arguments describe: ordered REPLAYS NODE... A node is
 *     KIND[GRID][:BEFORE,...][*TIMES]
 * KIND     k a kernel, d one that is disabled before the replays, c a copy, e nothing at all, h a call of the
 *          host, i a conditional body, ( a child graph of all nodes up to its ) – which names what is before
 * it BEFORE   numbers of nodes, counted from 0 within the (child) graph; < the one ahead; p in front of it:
 * the node need not wait for that one's end (programmatic dependent launch) "u" instead of a node: it has
 * been instantiated by then, and is updated to the graph with all nodes of twice the blocks. */
#include "client.h"

#include <ctype.h>

enum { MOST_NODES = 20000, DEEPEST = 8, MOST_BEFORE = 16 };

static CUcontext context;
static CUdeviceptr memory;
static CUfunction scale;
static float factor = 2;
static void *values[] = {&memory, &factor};

struct level {
    CUgraph graph;
    CUgraphNode nodes[MOST_NODES];
    size_t count;
};

static struct level levels[DEEPEST];
static CUgraphNode disabled[MOST_NODES];
static size_t disabled_count;

static void nothing(void *unused)
{
    (void)unused;
}

static CUgraphNode add_kernel(CUgraph graph, unsigned blocks)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS_v2 parameters = client_kernel_node(scale, blocks, 0, values);
    CHECK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &parameters));
    return node;
}

static CUgraphNode add_conditional(CUgraph graph)
{
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    CHECK(cuGraphConditionalHandleCreate(&handle, graph, context, 1, 0));
    CUgraphNodeParams parameters = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = CU_GRAPH_COND_TYPE_IF, .size = 1, .ctx = context}};
    CHECK(cuGraphAddNode(&node, graph, NULL, 0, &parameters));
    return node;
}

static CUgraphNode add(CUgraph graph, char kind, unsigned blocks)
{
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS_v1 host = {.fn = nothing};
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {.dst = memory, .elementSize = 4, .width = 16, .height = 1};
    switch (kind) {
    case 'k':
        return add_kernel(graph, blocks);
    case 'd':
        return disabled[disabled_count++] = add_kernel(graph, blocks);
    case 'c':
        CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
        return node;
    case 'h':
        CHECK(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
        return node;
    case 'i':
        return add_conditional(graph);
    default:
        CHECK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
        return node;
    }
}

/* Reads what follows the colon. */
static void add_edges(const struct level *level, CUgraphNode node, const char *before)
{
    while (*before && *before != '*') {
        bool programmatic = *before == 'p';
        before += programmatic;
        char *end;
        size_t number = *before == '<' ? level->count - 1 : strtoul(before, &end, 10);
        before = *before == '<' ? before + 1 : end;
        before += *before == ',';
        CUgraphNode from = level->nodes[number];
        CUgraphEdgeData data = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
        CHECK(programmatic ? cuGraphAddDependencies_v2(level->graph, &from, &node, &data, 1)
                           : cuGraphAddDependencies(level->graph, &from, &node, 1));
    }
}

static CUgraph build(char **nodes, unsigned more)
{
    struct level *level = levels;
    *level = (struct level){0};
    CHECK(cuGraphCreate(&level->graph, 0));
    for (; *nodes && **nodes != 'u'; nodes++) {
        const char *text = *nodes, *before = strchr(text, ':'), *repeated = strchr(text, '*');
        unsigned blocks = (unsigned)strtoul(text + 1, NULL, 10) * more;
        for (long times = repeated ? strtol(repeated + 1, NULL, 10) : 1; times > 0; times--) {
            CUgraphNode node;
            if (*text == '(') {
                *++level = (struct level){0};
                CHECK(cuGraphCreate(&level->graph, 0));
                continue;
            }
            if (*text == ')') {
                level--;
                CHECK(cuGraphAddChildGraphNode(&node, level->graph, NULL, 0, level[1].graph));
            } else {
                node = add(level->graph, *text, blocks);
            }
            add_edges(level, node, before ? before + 1 : "");
            level->nodes[level->count++] = node;
        }
    }
    return levels->graph;
}

int main(int arguments, char **argument)
{
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    (void)arguments;
    client_open(&context, &memory, &scale);
    CUgraph graph = build(argument + 2, 1);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (size_t i = 0; i < disabled_count; i++) {
        CHECK(cuGraphNodeSetEnabled(exec, disabled[i], 0));
    }
    CHECK(cuGraphDestroy(graph));
    if (*argument[arguments - 1] == 'u') {
        disabled_count = 0;
        CHECK(cuGraphExecUpdate_v2(exec, build(argument + 2, 2), &info));
    }
    for (long i = strtol(argument[1], NULL, 10); i > 0; i--) {
        CHECK(cuGraphLaunch(exec, NULL));
    }
    CHECK(cuCtxSynchronize());
    return 0;
}
