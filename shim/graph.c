/* Hooks of executable graphs. */
#include "graph_exec.h"
#include "launch_hooks.h"

#include <string.h>

static void instantiated(CUresult result, const CUgraphExec *exec, CUgraph graph, uint64_t flags)
{
    if (result == CUDA_SUCCESS) {
        KEEP_ERRNO;
        graph_exec_instantiated(*exec, graph, flags);
    }
}

static CUresult graph_instantiate_old(struct call call, CUgraphExec *exec, CUgraph graph, CUgraphNode *node,
                                      char *log, size_t bytes)
{
    CUresult result = REAL(cuGraphInstantiate)(exec, graph, node, log, bytes);
    instantiated(result, exec, graph, 0);
    return result;
}

static CUresult graph_instantiate_flags(struct call call, CUgraphExec *exec, CUgraph graph,
                                        unsigned long long flags)
{
    CUresult result = REAL(cuGraphInstantiateWithFlags)(exec, graph, flags);
    instantiated(result, exec, graph, flags);
    return result;
}

static CUresult graph_instantiate_parameters(struct call call, CUgraphExec *exec, CUgraph graph,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
{
    CUresult result = REAL(cuGraphInstantiateWithParams)(exec, graph, parameters);
    instantiated(result, exec, graph, result == CUDA_SUCCESS ? parameters->flags : 0);
    return result;
}

static CUresult graph_launch(struct call call, CUgraphExec exec, CUstream stream)
{
    uint32_t extras = LAUNCH_GRAPH | (call.api == API_cuGraphLaunch_ptsz ? LAUNCH_PER_THREAD : 0);
    struct watched watched;
    watch_begin(&watched, exec, 0, 0, extras, stream);
    struct launch_words words = {(uintptr_t)exec, 0, 0, extras, 0};
    uint32_t hash = recorder_expect(&words);
    uint64_t start = recorder_start();
    CUresult result = REAL(cuGraphLaunch)(exec, stream);
    if (LIKELY(result == CUDA_SUCCESS)) {
        recorder_launched(&words, hash, stream, start);
    }
    watch_end(&watched, result);
    return result;
}

/* Once uploaded, a graph made for it may be launched from the GPU: how often, nobody here can see. */
static CUresult graph_upload(struct call call, CUgraphExec exec, CUstream stream)
{
    CUresult result = REAL(cuGraphUpload)(exec, stream);
    if (result == CUDA_SUCCESS && graph_exec_is_for_device(exec)) {
        recorder_uncounted(STORE_UNCOUNTED_DEVICE_GRAPH);
    }
    return result;
}

static CUresult graph_exec_destroy(struct call call, CUgraphExec exec)
{
    uint32_t ending = graph_exec_ending(exec);
    CUresult result = REAL(cuGraphExecDestroy)(exec);
    graph_exec_ended(ending, result == CUDA_SUCCESS);
    return result;
}

static CUresult graph_set_kernel(struct call call, CUgraphExec exec, CUgraphNode node,
                                 const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    CUresult result = REAL(cuGraphExecKernelNodeSetParams)(exec, node, parameters);
    if (result == CUDA_SUCCESS) {
        CUDA_KERNEL_NODE_PARAMS_v2 newer = {0};
        memcpy(&newer, parameters, sizeof *parameters);
        graph_exec_set_kernel(exec, node, &newer);
    }
    return result;
}

static CUresult graph_set_kernel_v2(struct call call, CUgraphExec exec, CUgraphNode node,
                                    const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
    CUresult result = REAL(cuGraphExecKernelNodeSetParams_v2)(exec, node, parameters);
    if (result == CUDA_SUCCESS) {
        graph_exec_set_kernel(exec, node, parameters);
    }
    return result;
}

static CUresult graph_set_node(struct call call, CUgraphExec exec, CUgraphNode node,
                               CUgraphNodeParams *parameters)
{
    CUresult result = REAL(cuGraphExecNodeSetParams)(exec, node, parameters);
    if (result == CUDA_SUCCESS && parameters->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        CUDA_KERNEL_NODE_PARAMS_v2 kernel = {0};
        _Static_assert(sizeof kernel == sizeof parameters->kernel, "v2 and v3 have the same fields");
        memcpy(&kernel, &parameters->kernel, sizeof kernel);
        graph_exec_set_kernel(exec, node, &kernel);
    } else if (result == CUDA_SUCCESS && parameters->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        graph_exec_set_child(exec, node, parameters->graph.graph);
    }
    return result;
}

static CUresult graph_set_child(struct call call, CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    CUresult result = REAL(cuGraphExecChildGraphNodeSetParams)(exec, node, child);
    if (result == CUDA_SUCCESS) {
        graph_exec_set_child(exec, node, child);
    }
    return result;
}

static CUresult graph_set_enabled(struct call call, CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    CUresult result = REAL(cuGraphNodeSetEnabled)(exec, node, enabled);
    if (result == CUDA_SUCCESS) {
        graph_exec_set_enabled(exec, node, enabled != 0);
    }
    return result;
}

static CUresult graph_update_old(struct call call, CUgraphExec exec, CUgraph graph, CUgraphNode *node,
                                 CUgraphExecUpdateResult *how)
{
    CUresult result = REAL(cuGraphExecUpdate)(exec, graph, node, how);
    if (result == CUDA_SUCCESS) {
        graph_exec_updated(exec, graph);
    }
    return result;
}

static CUresult graph_update(struct call call, CUgraphExec exec, CUgraph graph,
                             CUgraphExecUpdateResultInfo *info)
{
    CUresult result = REAL(cuGraphExecUpdate_v2)(exec, graph, info);
    if (result == CUDA_SUCCESS) {
        graph_exec_updated(exec, graph);
    }
    return result;
}

#define GRAPH_HOOK HOOK_ENTRIES
#include "driver_api.def"
