/* The exported functions of stream capture. */
#include "capture_state.h"
#include "graph_edges.h"
#include "require.h"

/* --- beginning ----------------------------------------------------------------------------------------- */

static CUresult begin(struct CUstream_st *stream, CUstreamCaptureMode mode, CUgraph graph,
                      const struct node_set *tail)
{
    REQUIRE((unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    if (stream->is_legacy) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    capture_lock();
    CUresult result =
        capture_of(stream) ? CUDA_ERROR_ILLEGAL_STATE : capture_begin(stream, mode, graph, tail);
    capture_unlock();
    return result;
}

static const struct node_set no_nodes;

STREAM_ENTRY(cuStreamBeginCapture, _ptsz, (stream), CUstream stream)
{
    ENTER_STREAM(stream);
    return begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, NULL, &no_nodes);
}

STREAM_ENTRY(cuStreamBeginCapture_v2, _ptsz, (stream, mode), CUstream stream, CUstreamCaptureMode mode)
{
    ENTER_STREAM(stream);
    return begin(stream, mode, NULL, &no_nodes);
}

STREAM_ENTRY(cuStreamBeginCaptureToGraph, _ptsz, (stream, graph, dependencies, data, count, mode),
             CUstream stream, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *data,
             size_t count, CUstreamCaptureMode mode)
{
    struct node_set tail = {0};
    ENTER_STREAM(stream);
    if (!object_is(graph, OBJECT_GRAPH)) {
        return graph_refuse(graph, entry->call);
    }
    REQUIRE(!graph->is_capturing);
    TRY(graph_edges_check(graph, dependencies, data, count));
    CUresult result = node_set_assign(&tail, dependencies, data, count);
    if (result == CUDA_SUCCESS) {
        result = begin(stream, mode, graph, &tail);
    }
    node_set_free(&tail);
    return result;
}

/* --- ending -------------------------------------------------------------------------------------------- */

static CUresult verdict(const struct capture *capture)
{
    if (capture->is_invalidated) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    return capture_is_joined(capture) ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

static CUresult end(struct CUstream_st *stream, CUgraph *graph)
{
    struct capture *capture = capture_of(stream);
    if (!capture) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (capture->origin != stream) {
        return capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != thread_current()) {
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    CUresult result = verdict(capture);
    *graph = capture_finish(capture, result != CUDA_SUCCESS);
    return result;
}

STREAM_ENTRY(cuStreamEndCapture, _ptsz, (stream, graph), CUstream stream, CUgraph *graph)
{
    ENTER_STREAM(stream);
    REQUIRE(graph);
    *graph = NULL;
    capture_lock();
    CUresult result = end(stream, graph);
    capture_unlock();
    return result;
}

/* --- asking -------------------------------------------------------------------------------------------- */

struct capture_answer {
    CUstreamCaptureStatus *status; /* never NULL; the others may be */
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **dependencies;
    const CUgraphEdgeData **data;
    size_t *count;
};

static bool loses_data(const struct node_set *tail)
{
    for (size_t i = 0; i < tail->count; i++) {
        if (!graph_edge_is_default(&tail->data[i])) {
            return true;
        }
    }
    return false;
}

static CUresult describe_active(struct capture *capture, const struct CUstream_st *stream,
                                const struct capture_answer *answer)
{
    const struct node_set *tail = &capture_stream_state(capture, stream)->tail;
    if (answer->dependencies && !answer->data && loses_data(tail)) {
        return CUDA_ERROR_LOSSY_QUERY;
    }
    if (answer->id) {
        *answer->id = capture->id;
    }
    if (answer->graph) {
        *answer->graph = capture->graph;
    }
    if (answer->dependencies) {
        *answer->dependencies = tail->nodes;
    }
    if (answer->data) {
        *answer->data = tail->data;
    }
    if (answer->count) {
        *answer->count = tail->count;
    }
    return CUDA_SUCCESS;
}

static CUresult describe(const struct CUstream_st *stream, const struct capture_answer *answer)
{
    struct capture *capture = capture_of(stream);
    *answer->status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!capture) {
        return CUDA_SUCCESS;
    }
    if (capture->is_invalidated) {
        *answer->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
        return CUDA_SUCCESS;
    }
    *answer->status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return describe_active(capture, stream, answer);
}

static CUresult ask(const struct CUstream_st *stream, const struct capture_answer *answer)
{
    REQUIRE(answer->status && (!answer->data || answer->dependencies));
    if (stream->is_legacy && atomic_load(&stream->context->capturing_blocking)) {
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    capture_lock();
    CUresult result = describe(stream, answer);
    capture_unlock();
    return result;
}

STREAM_ENTRY(cuStreamIsCapturing, _ptsz, (stream, status), CUstream stream, CUstreamCaptureStatus *status)
{
    ENTER_STREAM(stream);
    return ask(stream, &(struct capture_answer){.status = status});
}

STREAM_ENTRY(cuStreamGetCaptureInfo, _ptsz, (stream, status, id), CUstream stream,
             CUstreamCaptureStatus *status, cuuint64_t *id)
{
    ENTER_STREAM(stream);
    return ask(stream, &(struct capture_answer){.status = status, .id = id});
}

STREAM_ENTRY(cuStreamGetCaptureInfo_v2, _ptsz, (stream, status, id, graph, dependencies, count),
             CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
             const CUgraphNode **dependencies, size_t *count)
{
    ENTER_STREAM(stream);
    return ask(stream, &(struct capture_answer){status, id, graph, dependencies, NULL, count});
}

STREAM_ENTRY(cuStreamGetCaptureInfo_v3, _ptsz, (stream, status, id, graph, dependencies, data, count),
             CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
             const CUgraphNode **dependencies, const CUgraphEdgeData **data, size_t *count)
{
    ENTER_STREAM(stream);
    return ask(stream, &(struct capture_answer){status, id, graph, dependencies, data, count});
}

/* --- changing ------------------------------------------------------------------------------------------ */

static CUresult update(struct CUstream_st *stream, CUgraphNode *nodes, const CUgraphEdgeData *data,
                       size_t count, unsigned flags)
{
    struct capture *capture = capture_of(stream);
    if (!capture) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (capture->is_invalidated) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    TRY(graph_edges_check(capture->graph, nodes, data, count));
    struct node_set *tail = &capture_stream_state(capture, stream)->tail;
    return flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES ? node_set_assign(tail, nodes, data, count)
                                                       : node_set_add(tail, nodes, data, count);
}

static CUresult update_dependencies(struct CUstream_st *stream, CUgraphNode *nodes,
                                    const CUgraphEdgeData *data, size_t count, unsigned flags)
{
    REQUIRE(flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    capture_lock();
    CUresult result = update(stream, nodes, data, count, flags);
    capture_unlock();
    return result;
}

STREAM_ENTRY(cuStreamUpdateCaptureDependencies, _ptsz, (stream, nodes, count, flags), CUstream stream,
             CUgraphNode *nodes, size_t count, unsigned flags)
{
    ENTER_STREAM(stream);
    return update_dependencies(stream, nodes, NULL, count, flags);
}

STREAM_ENTRY(cuStreamUpdateCaptureDependencies_v2, _ptsz, (stream, nodes, data, count, flags),
             CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count, unsigned flags)
{
    ENTER_STREAM(stream);
    return update_dependencies(stream, nodes, data, count, flags);
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    ENTER(cuThreadExchangeStreamCaptureMode);
    REQUIRE(mode && (unsigned)*mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    struct thread_state *thread = thread_current();
    CUstreamCaptureMode previous = thread->capture_mode;
    thread->capture_mode = *mode;
    *mode = previous;
    return CUDA_SUCCESS;
}
