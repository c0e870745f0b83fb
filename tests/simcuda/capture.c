/* What a capturing stream is given becomes nodes, and events tie streams together. */
#include "capture_state.h"
#include "graph_memory.h"
#include "require.h"

#include <stdlib.h>

/* --- events -------------------------------------------------------------------------------------------- */

static CUresult snapshot(struct capture *capture, struct CUevent_st *event, const struct node_set *tail)
{
    struct captured_event *state = event->capture_state;
    if (atomic_load(&event->capture) != capture) {
        state = calloc(1, sizeof(*state));
        if (!state) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        state->event = event;
        state->next = capture->events;
        capture->events = state;
        event->capture_state = state;
        atomic_store(&event->capture, capture);
    }
    return node_set_assign(&state->tail, tail->nodes, tail->data, tail->count);
}

/* --- nodes --------------------------------------------------------------------------------------------- */

/* A kernel that may start before the one ahead of it has ended depends on that one's programmatic port. */
static void mark_programmatic(const struct launch_request *request, struct node_set *tail)
{
    for (unsigned i = 0; i < request->attribute_count; i++) {
        const CUlaunchAttribute *attribute = &request->attributes[i];
        bool allowed = attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                       attribute->value.programmaticStreamSerializationAllowed;
        for (size_t j = 0; allowed && j < tail->count; j++) {
            if (tail->nodes[j]->work.type == CU_GRAPH_NODE_TYPE_KERNEL) {
                tail->data[j] = (CUgraphEdgeData){.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
            }
        }
    }
}

static CUresult describe_launch(const struct CUstream_st *stream, const struct launch_request *request,
                                struct graph_work *work)
{
    TRY(graph_describe_launch(request, work));
    CUlaunchAttributeValue priority = {.priority = stream->priority};
    if (!graph_kernel_attribute(&work->kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY)) {
        CUresult result = graph_kernel_set_attribute(&work->kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority);
        if (result != CUDA_SUCCESS) {
            graph_work_free(work);
            return result;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult describe(const struct CUstream_st *stream, const struct operation *operation,
                         struct graph_work *work)
{
    struct CUctx_st *context = stream->context;
    switch (operation->kind) {
    case OPERATION_NOTHING:
        work->type = CU_GRAPH_NODE_TYPE_EMPTY;
        return CUDA_SUCCESS;
    case OPERATION_LAUNCH:
        return describe_launch(stream, &operation->launch, work);
    case OPERATION_COPY:
        return graph_describe_copy(&operation->copy, context, work);
    case OPERATION_FILL:
        return graph_describe_fill(&operation->fill, context, work);
    case OPERATION_HOST:
        return operation->host.callback
                   ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                   : graph_describe_host(operation->host.function, operation->host.data, work);
    case OPERATION_RECORD:
        return graph_describe_event(CALL_cuEventRecordWithFlags, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                    operation->event.event, work);
    case OPERATION_WAIT:
        return graph_describe_event(CALL_cuStreamWaitEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                    operation->event.event, work);
    case OPERATION_ALLOCATE:
        return graph_describe_captured_allocation(context, operation->memory.address, operation->memory.bytes,
                                                  work);
    case OPERATION_FREE:
        return graph_describe_free(operation->memory.address, work);
    case OPERATION_MEMORY_WORD:
        return graph_describe_words(
            &(CUDA_BATCH_MEM_OP_NODE_PARAMS){
                .ctx = context, .count = 1, .paramArray = (CUstreamBatchMemOpParams *)&operation->word},
            work);
    case OPERATION_GRAPH:
        return graph_describe_exec(operation->graph.exec, work);
    case OPERATION_BARRIER:
        break;
    }
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static CUresult add_node(struct capture *capture, struct captured_stream *state,
                         const struct operation *operation)
{
    struct graph_work work;
    CUgraphNode node;
    CUresult result = describe(state->stream, operation, &work);
    if (result != CUDA_SUCCESS) {
        return result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ? capture_invalidate(capture, result) : result;
    }
    if (operation->kind == OPERATION_LAUNCH) {
        mark_programmatic(&operation->launch, &state->tail);
    }
    TRY(graph_add(capture->graph, state->tail.nodes, state->tail.data, state->tail.count, &work, &node));
    return node_set_assign(&state->tail, &node, NULL, 1);
}

/* --- waiting for events -------------------------------------------------------------------------------- */

static CUresult wait_in_capture(struct capture *capture, struct captured_stream *state,
                                struct CUevent_st *event)
{
    struct capture *other = atomic_load(&event->capture);
    if (other == capture) {
        const struct captured_event *recorded = event->capture_state;
        return node_set_add(&state->tail, recorded->tail.nodes, recorded->tail.data, recorded->tail.count);
    }
    if (other && other != &capture_ended) {
        other->is_invalidated = true;
        return capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    return capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
}

static CUresult record_operation(struct CUstream_st *stream, const struct operation *operation)
{
    struct capture *capture = capture_of(stream);
    if (!capture) {
        return CUDA_ERROR_ILLEGAL_STATE; /* another thread has ended it just now */
    }
    if (capture->is_invalidated) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    struct captured_stream *state = capture_stream_state(capture, stream);
    if (operation->kind == OPERATION_RECORD && !(operation->event.flags & CU_EVENT_RECORD_EXTERNAL)) {
        return snapshot(capture, operation->event.event, &state->tail);
    }
    if (operation->kind == OPERATION_WAIT && !(operation->event.flags & CU_EVENT_WAIT_EXTERNAL)) {
        return wait_in_capture(capture, state, operation->event.event);
    }
    return add_node(capture, state, operation);
}

CUresult capture_record(struct CUstream_st *stream, const struct operation *operation)
{
    capture_lock();
    CUresult result = record_operation(stream, operation);
    capture_unlock();
    return result;
}

static CUresult join(struct CUstream_st *stream, struct CUevent_st *event)
{
    struct capture *capture = atomic_load(&event->capture);
    if (!capture) {
        return CUDA_SUCCESS; /* recorded again just now */
    }
    if (capture == &capture_ended) {
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION; /* unverified code */
    }
    if (capture->is_invalidated) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (stream->is_legacy) {
        return capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    const struct captured_event *recorded = event->capture_state;
    return capture_add_stream(capture, stream, &recorded->tail);
}

CUresult capture_join(struct CUstream_st *stream, struct CUevent_st *event)
{
    capture_lock();
    CUresult result = join(stream, event);
    capture_unlock();
    return result;
}
