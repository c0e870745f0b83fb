/* Hooks of stream capture. */
#include "capture.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "describe.h"
#include "hook.h"
#include "recorder_state.h"
#include "resolve.h"

struct captured_stream {
    CUstream stream;
    CUcontext context;
    long thread; /* whose default stream it is; 0 for a stream of its own */
};

enum { MOST_CAPTURES = 256 };

static struct captured_stream captured[MOST_CAPTURES];
static uint32_t captured_count;
static bool overflowed; /* more than fit: be careful for good */

/* The per-thread default stream has one name in all threads. */
static long default_stream_of(CUstream stream, bool per_thread)
{
    bool own = stream == CU_STREAM_PER_THREAD || (stream == NULL && per_thread);
    return own ? syscall(SYS_gettid) : 0;
}

static void captures_changed(void)
{
    store_release(&recorder.captures, captured_count + overflowed);
    recorder_choose_mode();
}

static void add(CUstream stream, bool per_thread)
{
    KEEP_ERRNO;
    struct captured_stream entry = {stream, describe_context(stream), default_stream_of(stream, per_thread)};
    recorder_lock_take();
    if (captured_count < MOST_CAPTURES) {
        captured[captured_count++] = entry;
    } else {
        overflowed = true;
    }
    captures_changed();
    recorder_lock_give();
}

static void take_out(bool (*test)(const struct captured_stream *, const void *), const void *argument)
{
    recorder_lock_take();
    for (uint32_t i = 0; i < captured_count;) {
        if (test(&captured[i], argument)) {
            captured[i] = captured[--captured_count];
        } else {
            i++;
        }
    }
    captures_changed();
    bool over = captured_count == 0 && !overflowed;
    recorder_lock_give();
    if (over) {
        resolve_pending();
    }
}

static bool same_stream(const struct captured_stream *entry, const void *wanted)
{
    const struct captured_stream *want = wanted;
    return entry->stream == want->stream && entry->thread == want->thread;
}

static bool same_handle(const struct captured_stream *entry, const void *stream)
{
    return entry->stream == *(const CUstream *)stream;
}

static bool same_context(const struct captured_stream *entry, const void *context)
{
    return entry->context == *(const CUcontext *)context;
}

void capture_context_ended(CUcontext context)
{
    take_out(same_context, &context);
}

bool capture_holds(CUstream stream, bool per_thread)
{
    const struct driver_queries *driver = driver_query();
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *) = per_thread && driver->cuStreamIsCapturing_ptsz
                                                             ? driver->cuStreamIsCapturing_ptsz
                                                             : driver->cuStreamIsCapturing;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return ask && ask(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static CUresult capture_begin_old(struct call call, CUstream stream)
{
    CUresult result = REAL(cuStreamBeginCapture)(stream);
    if (result == CUDA_SUCCESS) {
        add(stream, call.api == API_cuStreamBeginCapture_ptsz);
    }
    return result;
}

static CUresult capture_begin(struct call call, CUstream stream, CUstreamCaptureMode mode)
{
    CUresult result = REAL(cuStreamBeginCapture_v2)(stream, mode);
    if (result == CUDA_SUCCESS) {
        add(stream, call.api == API_cuStreamBeginCapture_v2_ptsz);
    }
    return result;
}

static CUresult capture_begin_to_graph(struct call call, CUstream stream, CUgraph graph,
                                       const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                       CUstreamCaptureMode mode)
{
    CUresult result = REAL(cuStreamBeginCaptureToGraph)(stream, graph, nodes, edges, count, mode);
    if (result == CUDA_SUCCESS) {
        add(stream, call.api == API_cuStreamBeginCaptureToGraph_ptsz);
    }
    return result;
}

/* An error may mean that the capture ended badly, or that it goes on (the wrong thread, the wrong stream). */
static CUresult capture_end(struct call call, CUstream stream, CUgraph *graph)
{
    CUresult result = REAL(cuStreamEndCapture)(stream, graph);
    bool per_thread = call.api == API_cuStreamEndCapture_ptsz;
    if (load_relaxed(&recorder.captures) && (result == CUDA_SUCCESS || !capture_holds(stream, per_thread))) {
        KEEP_ERRNO;
        struct captured_stream ended = {stream, NULL, default_stream_of(stream, per_thread)};
        take_out(same_stream, &ended);
    }
    return result;
}

static CUresult capture_stream_destroy(struct call call, CUstream stream)
{
    CUresult result = REAL(cuStreamDestroy)(stream);
    if (result == CUDA_SUCCESS && load_relaxed(&recorder.captures)) {
        KEEP_ERRNO;
        take_out(same_handle, &stream);
    }
    return result;
}

#define CAPTURE_HOOK HOOK_ENTRIES
#include "driver_api.def"
