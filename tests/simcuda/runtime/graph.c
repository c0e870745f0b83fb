/* Graphs, edges and executable graphs: what the driver has in the same form. */
#include "runtime.h"

/* --- graphs --------------------------------------------------------------------------------------------- */

RUNTIME_CALL(cudaGraphCreate, (cudaGraph_t * pGraph, unsigned flags), driver->cuGraphCreate(pGraph, flags))
RUNTIME_CALL(cudaGraphDestroy, (cudaGraph_t graph), driver->cuGraphDestroy(graph))
RUNTIME_CALL(cudaGraphClone, (cudaGraph_t * pGraphClone, cudaGraph_t originalGraph),
             driver->cuGraphClone(pGraphClone, originalGraph))
RUNTIME_CALL(cudaGraphNodeFindInClone,
             (cudaGraphNode_t * pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph),
             driver->cuGraphNodeFindInClone(pNode, originalNode, clonedGraph))
RUNTIME_CALL(cudaGraphDestroyNode, (cudaGraphNode_t node), driver->cuGraphDestroyNode(node))
RUNTIME_CALL(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *pType),
             driver->cuGraphNodeGetType(node, (CUgraphNodeType *)pType))
RUNTIME_CALL(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned flags),
             driver->cuGraphDebugDotPrint(graph, path, flags))

static CUresult create_handle(const struct driver_api *driver, cudaGraphConditionalHandle *handle,
                              cudaGraph_t graph, unsigned default_value, unsigned flags)
{
    CUcontext context;
    CUresult result = driver->cuCtxGetCurrent(&context);
    return result == CUDA_SUCCESS
               ? driver->cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)handle, graph, context,
                                                        default_value, flags)
               : result;
}
RUNTIME_CALL(cudaGraphConditionalHandleCreate,
             (cudaGraphConditionalHandle * pHandle_out, cudaGraph_t graph, unsigned defaultLaunchValue,
              unsigned flags),
             create_handle(driver, pHandle_out, graph, defaultLaunchValue, flags))

/* --- edges ---------------------------------------------------------------------------------------------- */

RUNTIME_CALL(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes),
             driver->cuGraphGetNodes(graph, nodes, numNodes))
RUNTIME_CALL(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes),
             driver->cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes))
RUNTIME_CALL(cudaGraphGetEdges,
             (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edgeData,
              size_t *numEdges),
             driver->cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edgeData, numEdges))
RUNTIME_CALL(cudaGraphNodeGetDependencies,
             (cudaGraphNode_t node, cudaGraphNode_t *pDependencies, cudaGraphEdgeData *edgeData,
              size_t *pNumDependencies),
             driver->cuGraphNodeGetDependencies(node, pDependencies, (CUgraphEdgeData *)edgeData,
                                                pNumDependencies))
RUNTIME_CALL(cudaGraphNodeGetDependentNodes,
             (cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, cudaGraphEdgeData *edgeData,
              size_t *pNumDependentNodes),
             driver->cuGraphNodeGetDependentNodes(node, pDependentNodes, (CUgraphEdgeData *)edgeData,
                                                  pNumDependentNodes))
RUNTIME_CALL(cudaGraphAddDependencies,
             (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
              const cudaGraphEdgeData *edgeData, size_t numDependencies),
             driver->cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edgeData,
                                            numDependencies))
RUNTIME_CALL(cudaGraphRemoveDependencies,
             (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
              const cudaGraphEdgeData *edgeData, size_t numDependencies),
             driver->cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)edgeData,
                                               numDependencies))

/* --- executable graphs ---------------------------------------------------------------------------------- */

RUNTIME_CALL(cudaGraphInstantiate,
             (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
             driver->cuGraphInstantiateWithFlags(pGraphExec, graph, flags))
RUNTIME_CALL(cudaGraphInstantiateWithFlags,
             (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
             driver->cuGraphInstantiateWithFlags(pGraphExec, graph, flags))

_Static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS), "passed through");
_Static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo),
               "passed through");

RUNTIME_CALL_PTSZ(cudaGraphInstantiateWithParams,
                  (cudaGraphExec_t * pGraphExec, cudaGraph_t graph,
                   cudaGraphInstantiateParams *instantiateParams),
                  driver->cuGraphInstantiateWithParams(pGraphExec, graph,
                                                       (CUDA_GRAPH_INSTANTIATE_PARAMS *)instantiateParams))

RUNTIME_CALL(cudaGraphExecGetFlags, (cudaGraphExec_t graphExec, unsigned long long *flags),
             driver->cuGraphExecGetFlags(graphExec, (cuuint64_t *)flags))
RUNTIME_CALL(cudaGraphExecUpdate,
             (cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, cudaGraphExecUpdateResultInfo *resultInfo),
             driver->cuGraphExecUpdate(hGraphExec, hGraph, (CUgraphExecUpdateResultInfo *)resultInfo))
RUNTIME_CALL_PTSZ(cudaGraphUpload, (cudaGraphExec_t graphExec, cudaStream_t stream),
                  driver->cuGraphUpload(graphExec, stream))
RUNTIME_CALL_PTSZ(cudaGraphLaunch, (cudaGraphExec_t graphExec, cudaStream_t stream),
                  driver->cuGraphLaunch(graphExec, stream))
RUNTIME_CALL(cudaGraphExecDestroy, (cudaGraphExec_t graphExec), driver->cuGraphExecDestroy(graphExec))

RUNTIME_CALL(cudaGraphNodeSetEnabled, (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned isEnabled),
             driver->cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled))
RUNTIME_CALL(cudaGraphNodeGetEnabled,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned *isEnabled),
             driver->cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled))
RUNTIME_CALL(cudaGraphExecChildGraphNodeSetParams,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, cudaGraph_t childGraph),
             driver->cuGraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph))
RUNTIME_CALL(cudaGraphExecEventRecordNodeSetEvent,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event),
             driver->cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event))
RUNTIME_CALL(cudaGraphExecEventWaitNodeSetEvent,
             (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event),
             driver->cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event))

/* --- user objects and memory of graphs ------------------------------------------------------------------ */

RUNTIME_CALL(cudaUserObjectCreate,
             (cudaUserObject_t * object_out, void *ptr, cudaHostFn_t destroy, unsigned initialRefcount,
              unsigned flags),
             driver->cuUserObjectCreate(object_out, ptr, destroy, initialRefcount, flags))
RUNTIME_CALL(cudaUserObjectRetain, (cudaUserObject_t object, unsigned count),
             driver->cuUserObjectRetain(object, count))
RUNTIME_CALL(cudaUserObjectRelease, (cudaUserObject_t object, unsigned count),
             driver->cuUserObjectRelease(object, count))
RUNTIME_CALL(cudaGraphRetainUserObject,
             (cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags),
             driver->cuGraphRetainUserObject(graph, object, count, flags))
RUNTIME_CALL(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned count),
             driver->cuGraphReleaseUserObject(graph, object, count))

RUNTIME_CALL(cudaDeviceGraphMemTrim, (int device), driver->cuDeviceGraphMemTrim(device))
RUNTIME_CALL(cudaDeviceGetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attr, void *value),
             driver->cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value))
RUNTIME_CALL(cudaDeviceSetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attr, void *value),
             driver->cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value))
