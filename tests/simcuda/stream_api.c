/* The exported functions of streams, but for capture and memory operations. */
#include "capture.h"
#include "context.h"
#include "require.h"
#include "stream.h"

static CUresult create(struct CUctx_st *context, CUstream *handle, unsigned flags, int priority)
{
    REQUIRE(handle && (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) == 0);
    int clamped = priority > STREAM_PRIORITY_LEAST ? STREAM_PRIORITY_LEAST : priority;
    clamped = clamped < STREAM_PRIORITY_GREATEST ? STREAM_PRIORITY_GREATEST : clamped;
    *handle = stream_make(context, flags, clamped);
    return *handle ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuStreamCreate(CUstream *handle, unsigned flags)
{
    ENTER_IN_CONTEXT(cuStreamCreate, context);
    return create(context, handle, flags, 0);
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *handle, unsigned flags, int priority)
{
    ENTER_IN_CONTEXT(cuStreamCreateWithPriority, context);
    return create(context, handle, flags, priority);
}

static CUresult destroy(CUstream stream, enum call call)
{
    bool built_in = !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
    if (built_in || !object_is(stream, OBJECT_STREAM)) {
        return built_in ? CUDA_ERROR_INVALID_HANDLE : object_refuse(stream, call);
    }
    stream_end(stream);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamDestroy(CUstream stream)
{
    ENTER(cuStreamDestroy);
    return destroy(stream, CALL_cuStreamDestroy);
}

CUresult CUDAAPI cuStreamDestroy_v2(CUstream stream)
{
    ENTER(cuStreamDestroy_v2);
    return destroy(stream, CALL_cuStreamDestroy_v2);
}

/* --- waiting ------------------------------------------------------------------------------------------- */

static CUresult may_wait(struct CUstream_st *stream)
{
    bool captures = atomic_load(&stream->capture) != NULL ||
                    (stream->is_legacy && atomic_load(&stream->context->capturing_blocking));
    return captures ? capture_refuse_synchronize(stream) : CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamSynchronize, _ptsz, (stream), CUstream stream)
{
    ENTER_STREAM(stream);
    TRY(may_wait(stream));
    stream_wait_idle(stream);
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamQuery, _ptsz, (stream), CUstream stream)
{
    ENTER_STREAM(stream);
    TRY(may_wait(stream));
    return stream_is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* --- properties ---------------------------------------------------------------------------------------- */

STREAM_ENTRY(cuStreamGetPriority, _ptsz, (stream, priority), CUstream stream, int *priority)
{
    ENTER_STREAM(stream);
    REQUIRE(priority);
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamGetFlags, _ptsz, (stream, flags), CUstream stream, unsigned *flags)
{
    ENTER_STREAM(stream);
    REQUIRE(flags);
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamGetId, _ptsz, (stream, id), CUstream stream, unsigned long long *id)
{
    ENTER_STREAM(stream);
    REQUIRE(id);
    *id = stream->id;
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamGetCtx, _ptsz, (stream, context), CUstream stream, CUcontext *context)
{
    ENTER_STREAM(stream);
    REQUIRE(context);
    *context = stream->context;
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamGetCtx_v2, _ptsz, (stream, context, green), CUstream stream, CUcontext *context,
             CUgreenCtx *green)
{
    ENTER_STREAM(stream);
    REQUIRE(context && green);
    *green = stream->context->green;
    *context = *green ? NULL : stream->context;
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamGetDevice, _ptsz, (stream, device), CUstream stream, CUdevice *device)
{
    ENTER_STREAM(stream);
    REQUIRE(device);
    *device = stream->context->device->ordinal;
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamGetAttribute, _ptsz, (stream, attribute, value), CUstream stream,
             CUstreamAttrID attribute, CUstreamAttrValue *value)
{
    ENTER_STREAM(stream);
    REQUIRE(value && (unsigned)attribute < STREAM_ATTRIBUTES);
    *value = stream->attributes[attribute];
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
        value->priority = stream->priority;
    }
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamSetAttribute, _ptsz, (stream, attribute, value), CUstream stream,
             CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    ENTER_STREAM(stream);
    REQUIRE(value && (unsigned)attribute < STREAM_ATTRIBUTES);
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
        stream->priority = value->priority;
    }
    stream->attributes[attribute] = *value;
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamCopyAttributes, _ptsz, (to, from), CUstream to, CUstream from)
{
    struct CUstream_st *source = from;
    TRY(stream_enter(entry, &to));
    TRY(stream_resolve(entry, from, &source));
    for (unsigned i = 0; i < STREAM_ATTRIBUTES; i++) {
        to->attributes[i] = source->attributes[i];
    }
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuStreamAttachMemAsync, _ptsz, (stream, address, bytes, flags), CUstream stream,
             CUdeviceptr address, size_t bytes, unsigned flags)
{
    ENTER_STREAM(stream);
    (void)bytes;
    REQUIRE(address && flags && (flags & ~7u) == 0);
    return CUDA_SUCCESS;
}

/* --- host functions ------------------------------------------------------------------------------------ */

STREAM_ENTRY(cuLaunchHostFunc, _ptsz, (stream, function, data), CUstream stream, CUhostFn function,
             void *data)
{
    ENTER_STREAM(stream);
    REQUIRE(function);
    struct operation host = {.kind = OPERATION_HOST,
                             .host = {.function = function, .data = data, .stream = stream}};
    return stream_submit(stream, &host);
}

STREAM_ENTRY(cuStreamAddCallback, _ptsz, (stream, callback, data, flags), CUstream stream,
             CUstreamCallback callback, void *data, unsigned flags)
{
    CUstream handle = stream; /* what the callback is given */
    ENTER_STREAM(stream);
    REQUIRE(callback && flags == 0);
    if (atomic_load(&stream->capture)) {
        return capture_refuse_synchronize(stream);
    }
    struct operation host = {.kind = OPERATION_HOST,
                             .host = {.callback = callback, .data = data, .stream = handle}};
    return stream_submit(stream, &host);
}
