/* Stream capture. */
#include "capture.h"

CUresult capture_record(struct CUstream_st *stream, const struct operation *operation)
{
    (void)stream, (void)operation;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult capture_refuse_legacy(struct CUstream_st *legacy)
{
    (void)legacy;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult capture_forbids_unsafe(void)
{
    return CUDA_SUCCESS;
}

CUresult capture_refuse_synchronize(struct CUstream_st *stream)
{
    (void)stream;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_forbids_synchronize(struct CUctx_st *context)
{
    (void)context;
    return CUDA_SUCCESS;
}

CUresult capture_refuse_event(struct CUevent_st *event)
{
    (void)event;
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult capture_join(struct CUstream_st *stream, struct CUevent_st *event)
{
    (void)stream, (void)event;
    return CUDA_ERROR_NOT_SUPPORTED;
}

bool capture_is_under_way(void)
{
    return false;
}

void capture_stream_ending(struct CUstream_st *stream)
{
    (void)stream;
}

void capture_context_ending(struct CUctx_st *context)
{
    (void)context;
}

void graph_replay_execute(CUgraphExec exec, void *replay)
{
    (void)exec, (void)replay;
}
