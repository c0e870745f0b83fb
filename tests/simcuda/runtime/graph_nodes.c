/* Nodes: the runtime's parameters become the driver's. Kernels go by their host functions, copies by the
 * runtime's kinds, copies to and from device variables by the variables' addresses. */
#include "copy.h"
#include "registry.h"

#include <string.h>

/* Adding a node starts with the same four parameters everywhere. */
#define PLACE                                                                                                \
    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,                    \
        size_t numDependencies
#define PLACED pGraphNode, graph, pDependencies, numDependencies

/* Carries on with `call` once `error`, an expression, is a success. */
#define THEN(error, call)                                                                                    \
    do {                                                                                                     \
        cudaError_t then_ = (error);                                                                         \
        return then_ == cudaSuccess ? (cudaError_t)(call) : then_;                                           \
    } while (0)

static CUcontext current_context(const struct driver_api *driver)
{
    CUcontext context = NULL;
    driver->cuCtxGetCurrent(&context);
    return context;
}

/* --- kernels -------------------------------------------------------------------------------------------- */

static cudaError_t kernel_to_driver(const struct driver_api *driver, const struct cudaKernelNodeParams *in,
                                    CUDA_KERNEL_NODE_PARAMS_v2 *out)
{
    if (in == NULL) {
        return cudaErrorInvalidValue;
    }
    *out = (CUDA_KERNEL_NODE_PARAMS_v2){.gridDimX = in->gridDim.x,
                                        .gridDimY = in->gridDim.y,
                                        .gridDimZ = in->gridDim.z,
                                        .blockDimX = in->blockDim.x,
                                        .blockDimY = in->blockDim.y,
                                        .blockDimZ = in->blockDim.z,
                                        .sharedMemBytes = in->sharedMemBytes,
                                        .kernelParams = in->kernelParams,
                                        .extra = in->extra};
    return registry_kernel(driver, in->func, &out->kern);
}

static cudaError_t add_kernel(const struct driver_api *driver, PLACE, const struct cudaKernelNodeParams *in)
{
    CUDA_KERNEL_NODE_PARAMS_v2 parameters;
    THEN(kernel_to_driver(driver, in, &parameters), driver->cuGraphAddKernelNode(PLACED, &parameters));
}
RUNTIME_CALL(cudaGraphAddKernelNode, (PLACE, const struct cudaKernelNodeParams *pNodeParams),
             add_kernel(driver, PLACED, pNodeParams))

/* A kernel that has no host function is answered as the handle it is. */
static cudaError_t get_kernel(const struct driver_api *driver, cudaGraphNode_t node,
                              struct cudaKernelNodeParams *out)
{
    CUDA_KERNEL_NODE_PARAMS_v2 in;
    if (out == NULL) {
        return cudaErrorInvalidValue;
    }
    CUresult result = driver->cuGraphKernelNodeGetParams(node, &in);
    if (result != CUDA_SUCCESS) {
        return (cudaError_t)result;
    }
    *out = (struct cudaKernelNodeParams){.gridDim = {in.gridDimX, in.gridDimY, in.gridDimZ},
                                         .blockDim = {in.blockDimX, in.blockDimY, in.blockDimZ},
                                         .sharedMemBytes = in.sharedMemBytes,
                                         .kernelParams = in.kernelParams,
                                         .extra = in.extra};
    const void *handle = in.func != NULL ? (const void *)in.func : (const void *)in.kern;
    out->func = (void *)(uintptr_t)registry_host_function((CUkernel)(uintptr_t)handle);
    return cudaSuccess;
}
RUNTIME_CALL(cudaGraphKernelNodeGetParams, (cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams),
             get_kernel(driver, node, pNodeParams))

static cudaError_t set_kernel(const struct driver_api *driver, cudaGraphNode_t node,
                              const struct cudaKernelNodeParams *in)
{
    CUDA_KERNEL_NODE_PARAMS_v2 parameters;
    THEN(kernel_to_driver(driver, in, &parameters), driver->cuGraphKernelNodeSetParams(node, &parameters));
}
RUNTIME_CALL(cudaGraphKernelNodeSetParams,
             (cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams),
             set_kernel(driver, node, pNodeParams))

static cudaError_t set_exec_kernel(const struct driver_api *driver, cudaGraphExec_t exec,
                                   cudaGraphNode_t node, const struct cudaKernelNodeParams *in)
{
    CUDA_KERNEL_NODE_PARAMS_v2 parameters;
    THEN(kernel_to_driver(driver, in, &parameters),
         driver->cuGraphExecKernelNodeSetParams(exec, node, &parameters));
}
RUNTIME_CALL(cudaGraphExecKernelNodeSetParams,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
              const struct cudaKernelNodeParams *pNodeParams),
             set_exec_kernel(driver, hGraphExec, node, pNodeParams))

_Static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue), "passed through");

RUNTIME_CALL(cudaGraphKernelNodeGetAttribute,
             (cudaGraphNode_t hNode, cudaLaunchAttributeID attr, cudaLaunchAttributeValue *value_out),
             driver->cuGraphKernelNodeGetAttribute(hNode, (CUkernelNodeAttrID)attr,
                                                   (CUkernelNodeAttrValue *)value_out))
RUNTIME_CALL(cudaGraphKernelNodeSetAttribute,
             (cudaGraphNode_t hNode, cudaLaunchAttributeID attr, const cudaLaunchAttributeValue *value),
             driver->cuGraphKernelNodeSetAttribute(hNode, (CUkernelNodeAttrID)attr,
                                                   (const CUkernelNodeAttrValue *)value))
RUNTIME_CALL(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t hDst, cudaGraphNode_t hSrc),
             driver->cuGraphKernelNodeCopyAttributes(hDst, hSrc))

/* --- copies --------------------------------------------------------------------------------------------- */

static cudaError_t add_copy(const struct driver_api *driver, PLACE, const CUDA_MEMCPY3D *parameters)
{
    return (cudaError_t)driver->cuGraphAddMemcpyNode(PLACED, parameters, current_context(driver));
}

static cudaError_t set_copy(const struct driver_api *driver, cudaGraphExec_t exec, cudaGraphNode_t node,
                            const CUDA_MEMCPY3D *parameters)
{
    return (cudaError_t)(exec != NULL ? driver->cuGraphExecMemcpyNodeSetParams(exec, node, parameters,
                                                                               current_context(driver))
                                      : driver->cuGraphMemcpyNodeSetParams(node, parameters));
}

static cudaError_t add_copy_3d(const struct driver_api *driver, PLACE, const struct cudaMemcpy3DParms *in)
{
    CUDA_MEMCPY3D parameters;
    THEN(copy_to_driver(driver, in, &parameters), add_copy(driver, PLACED, &parameters));
}
RUNTIME_CALL(cudaGraphAddMemcpyNode, (PLACE, const struct cudaMemcpy3DParms *pCopyParams),
             add_copy_3d(driver, PLACED, pCopyParams))

static cudaError_t get_copy(const struct driver_api *driver, cudaGraphNode_t node,
                            struct cudaMemcpy3DParms *out)
{
    CUDA_MEMCPY3D parameters;
    CUresult result = driver->cuGraphMemcpyNodeGetParams(node, &parameters);
    if (result == CUDA_SUCCESS) {
        copy_from_driver(&parameters, out);
    }
    return (cudaError_t)result;
}
RUNTIME_CALL(cudaGraphMemcpyNodeGetParams, (cudaGraphNode_t node, struct cudaMemcpy3DParms *pNodeParams),
             pNodeParams == NULL ? cudaErrorInvalidValue : get_copy(driver, node, pNodeParams))

static cudaError_t set_copy_3d(const struct driver_api *driver, cudaGraphExec_t exec, cudaGraphNode_t node,
                               const struct cudaMemcpy3DParms *in)
{
    CUDA_MEMCPY3D parameters;
    THEN(copy_to_driver(driver, in, &parameters), set_copy(driver, exec, node, &parameters));
}
RUNTIME_CALL(cudaGraphMemcpyNodeSetParams,
             (cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams),
             set_copy_3d(driver, NULL, node, pNodeParams))
RUNTIME_CALL(cudaGraphExecMemcpyNodeSetParams,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams),
             set_copy_3d(driver, hGraphExec, node, pNodeParams))

static cudaError_t add_copy_1d(const struct driver_api *driver, PLACE, void *to, const void *from,
                               size_t bytes, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D parameters;
    THEN(copy_1d_to_driver(to, from, bytes, kind, &parameters), add_copy(driver, PLACED, &parameters));
}
RUNTIME_CALL(cudaGraphAddMemcpyNode1D,
             (PLACE, void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
             add_copy_1d(driver, PLACED, dst, src, count, kind))

static cudaError_t set_copy_1d(const struct driver_api *driver, cudaGraphExec_t exec, cudaGraphNode_t node,
                               void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D parameters;
    THEN(copy_1d_to_driver(to, from, bytes, kind, &parameters), set_copy(driver, exec, node, &parameters));
}
RUNTIME_CALL(cudaGraphMemcpyNodeSetParams1D,
             (cudaGraphNode_t node, void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
             set_copy_1d(driver, NULL, node, dst, src, count, kind))
RUNTIME_CALL(cudaGraphExecMemcpyNodeSetParams1D,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst, const void *src, size_t count,
              enum cudaMemcpyKind kind),
             set_copy_1d(driver, hGraphExec, node, dst, src, count, kind))

static cudaError_t add_copy_to_symbol(const struct driver_api *driver, PLACE, const void *symbol,
                                      const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *to;
    THEN(copy_symbol_address(driver, symbol, bytes, offset, &to),
         add_copy_1d(driver, PLACED, to, from, bytes, kind));
}
RUNTIME_CALL(cudaGraphAddMemcpyNodeToSymbol,
             (PLACE, const void *symbol, const void *src, size_t count, size_t offset,
              enum cudaMemcpyKind kind),
             add_copy_to_symbol(driver, PLACED, symbol, src, count, offset, kind))

static cudaError_t add_copy_from_symbol(const struct driver_api *driver, PLACE, void *to, const void *symbol,
                                        size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *from;
    THEN(copy_symbol_address(driver, symbol, bytes, offset, &from),
         add_copy_1d(driver, PLACED, to, from, bytes, kind));
}
RUNTIME_CALL(cudaGraphAddMemcpyNodeFromSymbol,
             (PLACE, void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind),
             add_copy_from_symbol(driver, PLACED, dst, symbol, count, offset, kind))

static cudaError_t set_copy_to_symbol(const struct driver_api *driver, cudaGraphExec_t exec,
                                      cudaGraphNode_t node, const void *symbol, const void *from,
                                      size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *to;
    THEN(copy_symbol_address(driver, symbol, bytes, offset, &to),
         set_copy_1d(driver, exec, node, to, from, bytes, kind));
}
RUNTIME_CALL(cudaGraphMemcpyNodeSetParamsToSymbol,
             (cudaGraphNode_t node, const void *symbol, const void *src, size_t count, size_t offset,
              enum cudaMemcpyKind kind),
             set_copy_to_symbol(driver, NULL, node, symbol, src, count, offset, kind))
RUNTIME_CALL(cudaGraphExecMemcpyNodeSetParamsToSymbol,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const void *symbol, const void *src,
              size_t count, size_t offset, enum cudaMemcpyKind kind),
             set_copy_to_symbol(driver, hGraphExec, node, symbol, src, count, offset, kind))

static cudaError_t set_copy_from_symbol(const struct driver_api *driver, cudaGraphExec_t exec,
                                        cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
                                        size_t offset, enum cudaMemcpyKind kind)
{
    void *from;
    THEN(copy_symbol_address(driver, symbol, bytes, offset, &from),
         set_copy_1d(driver, exec, node, to, from, bytes, kind));
}
RUNTIME_CALL(cudaGraphMemcpyNodeSetParamsFromSymbol,
             (cudaGraphNode_t node, void *dst, const void *symbol, size_t count, size_t offset,
              enum cudaMemcpyKind kind),
             set_copy_from_symbol(driver, NULL, node, dst, symbol, count, offset, kind))
RUNTIME_CALL(cudaGraphExecMemcpyNodeSetParamsFromSymbol,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst, const void *symbol, size_t count,
              size_t offset, enum cudaMemcpyKind kind),
             set_copy_from_symbol(driver, hGraphExec, node, dst, symbol, count, offset, kind))

/* --- fills, host functions, children, events: the driver's structures under other names ----------------- */

_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS), "passed through");
_Static_assert(sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS), "passed through");
_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS), "passed through");

RUNTIME_CALL(cudaGraphAddMemsetNode, (PLACE, const struct cudaMemsetParams *pMemsetParams),
             driver->cuGraphAddMemsetNode(PLACED, (const CUDA_MEMSET_NODE_PARAMS *)pMemsetParams,
                                          current_context(driver)))
RUNTIME_CALL(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams),
             driver->cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)pNodeParams))
RUNTIME_CALL(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams),
             driver->cuGraphMemsetNodeSetParams(node, (const CUDA_MEMSET_NODE_PARAMS *)pNodeParams))
RUNTIME_CALL(cudaGraphExecMemsetNodeSetParams,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams),
             driver->cuGraphExecMemsetNodeSetParams(hGraphExec, node,
                                                    (const CUDA_MEMSET_NODE_PARAMS *)pNodeParams,
                                                    current_context(driver)))

RUNTIME_CALL(cudaGraphAddHostNode, (PLACE, const struct cudaHostNodeParams *pNodeParams),
             driver->cuGraphAddHostNode(PLACED, (const CUDA_HOST_NODE_PARAMS *)pNodeParams))
RUNTIME_CALL(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams),
             driver->cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)pNodeParams))
RUNTIME_CALL(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams),
             driver->cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)pNodeParams))
RUNTIME_CALL(cudaGraphExecHostNodeSetParams,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams),
             driver->cuGraphExecHostNodeSetParams(hGraphExec, node,
                                                  (const CUDA_HOST_NODE_PARAMS *)pNodeParams))

RUNTIME_CALL(cudaGraphAddChildGraphNode, (PLACE, cudaGraph_t childGraph),
             driver->cuGraphAddChildGraphNode(PLACED, childGraph))
RUNTIME_CALL(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *pGraph),
             driver->cuGraphChildGraphNodeGetGraph(node, pGraph))
RUNTIME_CALL(cudaGraphAddEmptyNode, (PLACE), driver->cuGraphAddEmptyNode(PLACED))

RUNTIME_CALL(cudaGraphAddEventRecordNode, (PLACE, cudaEvent_t event),
             driver->cuGraphAddEventRecordNode(PLACED, event))
RUNTIME_CALL(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event_out),
             driver->cuGraphEventRecordNodeGetEvent(node, event_out))
RUNTIME_CALL(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
             driver->cuGraphEventRecordNodeSetEvent(node, event))
RUNTIME_CALL(cudaGraphAddEventWaitNode, (PLACE, cudaEvent_t event),
             driver->cuGraphAddEventWaitNode(PLACED, event))
RUNTIME_CALL(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event_out),
             driver->cuGraphEventWaitNodeGetEvent(node, event_out))
RUNTIME_CALL(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
             driver->cuGraphEventWaitNodeSetEvent(node, event))

RUNTIME_CALL(cudaGraphAddMemAllocNode, (PLACE, struct cudaMemAllocNodeParams *nodeParams),
             driver->cuGraphAddMemAllocNode(PLACED, (CUDA_MEM_ALLOC_NODE_PARAMS *)nodeParams))
RUNTIME_CALL(cudaGraphMemAllocNodeGetParams,
             (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params_out),
             driver->cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params_out))
RUNTIME_CALL(cudaGraphAddMemFreeNode, (PLACE, void *dptr),
             driver->cuGraphAddMemFreeNode(PLACED, (CUdeviceptr)dptr))
RUNTIME_CALL(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *dptr_out),
             driver->cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)dptr_out))

/* --- nodes of any kind ---------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "one union each");

static cudaError_t any_kernel_to_driver(const struct driver_api *driver,
                                        const struct cudaKernelNodeParamsV2 *in, CUgraphNodeParams *out)
{
    struct cudaKernelNodeParams same = {in->func,           in->gridDim,      in->blockDim,
                                        in->sharedMemBytes, in->kernelParams, in->extra};
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    cudaError_t error = kernel_to_driver(driver, &same, &kernel);
    memcpy(&out->kernel, &kernel, sizeof(out->kernel));
    return error;
}

/* Other kinds differ from the driver's at most by a context at the end. */
static cudaError_t any_to_driver(const struct driver_api *driver, const struct cudaGraphNodeParams *in,
                                 CUgraphNodeParams *out)
{
    if (in == NULL) {
        return cudaErrorInvalidValue;
    }
    memcpy(out, in, sizeof(*out));
    switch (in->type) {
    case cudaGraphNodeTypeKernel:
        return any_kernel_to_driver(driver, &in->kernel, out);
    case cudaGraphNodeTypeMemcpy:
        out->memcpy = (CUDA_MEMCPY_NODE_PARAMS){.copyCtx = current_context(driver)};
        return copy_to_driver(driver, &in->memcpy.copyParams, &out->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        out->memset.ctx = current_context(driver);
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        out->conditional.ctx = current_context(driver);
        return cudaSuccess;
    default:
        return cudaSuccess;
    }
}

static cudaError_t add_any(const struct driver_api *driver, PLACE, const cudaGraphEdgeData *data,
                           struct cudaGraphNodeParams *in)
{
    CUgraphNodeParams parameters;
    cudaError_t error = any_to_driver(driver, in, &parameters);
    if (error == cudaSuccess) {
        error = (cudaError_t)driver->cuGraphAddNode(
            pGraphNode, graph, pDependencies, (const CUgraphEdgeData *)data, numDependencies, &parameters);
    }
    if (error == cudaSuccess && in->type == cudaGraphNodeTypeMemAlloc) {
        in->alloc.dptr = (void *)parameters.alloc.dptr;
    } else if (error == cudaSuccess && in->type == cudaGraphNodeTypeConditional) {
        in->conditional.phGraph_out = parameters.conditional.phGraph_out;
    }
    return error;
}
RUNTIME_CALL(cudaGraphAddNode,
             (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
              const cudaGraphEdgeData *dependencyData, size_t numDependencies,
              struct cudaGraphNodeParams *nodeParams),
             add_any(driver, PLACED, dependencyData, nodeParams))

static cudaError_t set_any(const struct driver_api *driver, cudaGraphExec_t exec, cudaGraphNode_t node,
                           const struct cudaGraphNodeParams *in)
{
    CUgraphNodeParams parameters;
    THEN(any_to_driver(driver, in, &parameters),
         exec != NULL ? driver->cuGraphExecNodeSetParams(exec, node, &parameters)
                      : driver->cuGraphNodeSetParams(node, &parameters));
}
RUNTIME_CALL(cudaGraphNodeSetParams, (cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams),
             set_any(driver, NULL, node, nodeParams))
RUNTIME_CALL(cudaGraphExecNodeSetParams,
             (cudaGraphExec_t graphExec, cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams),
             set_any(driver, graphExec, node, nodeParams))
