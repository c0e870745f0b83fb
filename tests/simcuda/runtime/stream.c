/* Streams, events and stream capture. */
#include "runtime.h"

#include <stdlib.h>

/* --- streams -------------------------------------------------------------------------------------------- */

RUNTIME_CALL(cudaStreamCreate, (cudaStream_t * pStream), driver->cuStreamCreate(pStream, CU_STREAM_DEFAULT))
RUNTIME_CALL(cudaStreamCreateWithFlags, (cudaStream_t * pStream, unsigned flags),
             driver->cuStreamCreate(pStream, flags))
RUNTIME_CALL(cudaStreamCreateWithPriority, (cudaStream_t * pStream, unsigned flags, int priority),
             driver->cuStreamCreateWithPriority(pStream, flags, priority))
RUNTIME_CALL(cudaStreamDestroy, (cudaStream_t stream), driver->cuStreamDestroy(stream))

RUNTIME_CALL_PTSZ(cudaStreamGetPriority, (cudaStream_t hStream, int *priority),
                  driver->cuStreamGetPriority(hStream, priority))
RUNTIME_CALL_PTSZ(cudaStreamGetFlags, (cudaStream_t hStream, unsigned *flags),
                  driver->cuStreamGetFlags(hStream, flags))
RUNTIME_CALL_PTSZ(cudaStreamGetId, (cudaStream_t hStream, unsigned long long *streamId),
                  driver->cuStreamGetId(hStream, streamId))
RUNTIME_CALL_PTSZ(cudaStreamGetDevice, (cudaStream_t hStream, int *device),
                  driver->cuStreamGetDevice(hStream, device))

RUNTIME_CALL_PTSZ(cudaStreamSynchronize, (cudaStream_t stream), driver->cuStreamSynchronize(stream))
RUNTIME_CALL_PTSZ(cudaStreamQuery, (cudaStream_t stream), driver->cuStreamQuery(stream))
RUNTIME_CALL_PTSZ(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
                  driver->cuStreamWaitEvent(stream, event, flags))
RUNTIME_CALL_PTSZ(cudaStreamAttachMemAsync,
                  (cudaStream_t stream, void *devPtr, size_t length, unsigned flags),
                  driver->cuStreamAttachMemAsync(stream, (CUdeviceptr)devPtr, length, flags))

RUNTIME_CALL_PTSZ(cudaStreamCopyAttributes, (cudaStream_t dst, cudaStream_t src),
                  driver->cuStreamCopyAttributes(dst, src))
RUNTIME_CALL_PTSZ(cudaStreamGetAttribute,
                  (cudaStream_t hStream, cudaLaunchAttributeID attr, cudaLaunchAttributeValue *value_out),
                  driver->cuStreamGetAttribute(hStream, (CUstreamAttrID)attr, (CUstreamAttrValue *)value_out))
RUNTIME_CALL_PTSZ(cudaStreamSetAttribute,
                  (cudaStream_t hStream, cudaLaunchAttributeID attr, const cudaLaunchAttributeValue *value),
                  driver->cuStreamSetAttribute(hStream, (CUstreamAttrID)attr,
                                               (const CUstreamAttrValue *)value))

/* The callback types differ in the type of their status, whose numbers are the same. */
struct callback {
    cudaStreamCallback_t function;
    void *data;
};

static void run_callback(CUstream stream, CUresult status, void *data)
{
    struct callback callback = *(struct callback *)data;
    free(data);
    callback.function(stream, (cudaError_t)status, callback.data);
}

static cudaError_t add_callback(const struct driver_api *driver, cudaStream_t stream,
                                cudaStreamCallback_t function, void *data, unsigned flags)
{
    struct callback *callback = malloc(sizeof(*callback));
    if (callback == NULL || function == NULL) {
        free(callback);
        return function == NULL ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;
    }
    *callback = (struct callback){function, data};
    CUresult result = driver->cuStreamAddCallback(stream, run_callback, callback, flags);
    if (result != CUDA_SUCCESS) {
        free(callback);
    }
    return (cudaError_t)result;
}
RUNTIME_CALL_PTSZ(cudaStreamAddCallback,
                  (cudaStream_t stream, cudaStreamCallback_t callback, void *userData, unsigned flags),
                  add_callback(driver, stream, callback, userData, flags))

/* --- events --------------------------------------------------------------------------------------------- */

RUNTIME_CALL(cudaEventCreate, (cudaEvent_t * event), driver->cuEventCreate(event, CU_EVENT_DEFAULT))
RUNTIME_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags),
             driver->cuEventCreate(event, flags))
RUNTIME_CALL(cudaEventDestroy, (cudaEvent_t event), driver->cuEventDestroy(event))
RUNTIME_CALL(cudaEventQuery, (cudaEvent_t event), driver->cuEventQuery(event))
RUNTIME_CALL(cudaEventSynchronize, (cudaEvent_t event), driver->cuEventSynchronize(event))
RUNTIME_CALL(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end),
             driver->cuEventElapsedTime(ms, start, end))
RUNTIME_CALL_PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
                  driver->cuEventRecord(event, stream))
RUNTIME_CALL_PTSZ(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
                  driver->cuEventRecordWithFlags(event, stream, flags))

/* --- capture -------------------------------------------------------------------------------------------- */

RUNTIME_CALL_PTSZ(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
                  driver->cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode))
RUNTIME_CALL_PTSZ(cudaStreamBeginCaptureToGraph,
                  (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                   const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                   enum cudaStreamCaptureMode mode),
                  driver->cuStreamBeginCaptureToGraph(stream, graph, dependencies,
                                                      (const CUgraphEdgeData *)dependencyData,
                                                      numDependencies, (CUstreamCaptureMode)mode))
RUNTIME_CALL_PTSZ(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *pGraph),
                  driver->cuStreamEndCapture(stream, pGraph))
RUNTIME_CALL_PTSZ(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus),
                  driver->cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)pCaptureStatus))

_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "edges are passed through");

RUNTIME_CALL_PTSZ(cudaStreamGetCaptureInfo,
                  (cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                   unsigned long long *id_out, cudaGraph_t *graph_out,
                   const cudaGraphNode_t **dependencies_out, const cudaGraphEdgeData **edgeData_out,
                   size_t *numDependencies_out),
                  driver->cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)captureStatus_out,
                                                 (cuuint64_t *)id_out, graph_out, dependencies_out,
                                                 (const CUgraphEdgeData **)edgeData_out, numDependencies_out))
RUNTIME_CALL_PTSZ(cudaStreamUpdateCaptureDependencies,
                  (cudaStream_t stream, cudaGraphNode_t *dependencies,
                   const cudaGraphEdgeData *dependencyData, size_t numDependencies, unsigned flags),
                  driver->cuStreamUpdateCaptureDependencies(stream, dependencies,
                                                            (const CUgraphEdgeData *)dependencyData,
                                                            numDependencies, flags))
RUNTIME_CALL(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode),
             driver->cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode))
