/* Calls that a capture forbids, or that break it. */
#include "capture_state.h"

static bool touches_context(const struct capture *capture, const struct CUctx_st *context, bool blocking_only)
{
    for (const struct captured_stream *state = capture->streams; state; state = state->next) {
        if (state->stream->context == context && (!blocking_only || capture_blocks_legacy(state->stream))) {
            return true;
        }
    }
    return false;
}

static bool invalidate_in_context(const struct CUctx_st *context, bool blocking_only)
{
    bool any = false;
    capture_lock();
    for (struct capture *capture = capture_first(); capture; capture = capture->next) {
        if (touches_context(capture, context, blocking_only)) {
            capture->is_invalidated = true;
            any = true;
        }
    }
    capture_unlock();
    return any;
}

CUresult capture_refuse_legacy(struct CUstream_st *legacy)
{
    invalidate_in_context(legacy->context, true);
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult capture_refuse_synchronize(struct CUstream_st *stream)
{
    if (stream->is_legacy) {
        return capture_refuse_legacy(stream);
    }
    capture_lock();
    struct capture *capture = capture_of(stream);
    if (capture) {
        capture->is_invalidated = true;
    }
    capture_unlock();
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_forbids_synchronize(struct CUctx_st *context)
{
    if (!capture_any()) {
        return CUDA_SUCCESS;
    }
    return invalidate_in_context(context, false) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult capture_refuse_event(struct CUevent_st *event)
{
    capture_lock();
    struct capture *capture = atomic_load(&event->capture);
    if (capture && capture != &capture_ended) {
        capture->is_invalidated = true;
    }
    capture_unlock();
    return CUDA_ERROR_CAPTURED_EVENT;
}

/* The rules of cuThreadExchangeStreamCaptureMode. */
static bool is_forbidden_by(const struct thread_state *thread, const struct capture *capture)
{
    if (thread->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
        return false;
    }
    if (capture->thread == thread) {
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    }
    return thread->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_forbids_unsafe(void)
{
    if (!capture_any()) {
        return CUDA_SUCCESS;
    }
    const struct thread_state *thread = thread_current();
    CUresult result = CUDA_SUCCESS;
    capture_lock();
    for (struct capture *capture = capture_first(); capture; capture = capture->next) {
        if (is_forbidden_by(thread, capture)) {
            result = capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
    }
    capture_unlock();
    return result;
}

bool capture_is_under_way(void)
{
    if (!capture_any()) {
        return false;
    }
    const struct thread_state *thread = thread_current();
    bool found = false;
    capture_lock();
    for (struct capture *capture = capture_first(); capture && !found; capture = capture->next) {
        found = capture->thread == thread || capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    }
    capture_unlock();
    return found;
}

/* --- streams that end ---------------------------------------------------------------------------------- */

/* A capture whose first stream is gone can never be ended. */
static void drop_stream(struct capture *capture, struct CUstream_st *stream)
{
    if (capture->origin == stream) {
        capture_finish(capture, true);
        return;
    }
    capture->is_invalidated = true;
    capture_remove_stream(capture, capture_stream_state(capture, stream));
}

void capture_stream_ending(struct CUstream_st *stream)
{
    capture_lock();
    struct capture *capture = capture_of(stream);
    if (capture) {
        drop_stream(capture, stream);
    }
    capture_unlock();
}

void capture_context_ending(struct CUctx_st *context)
{
    invalidate_in_context(context, false); /* its streams end one by one */
}
