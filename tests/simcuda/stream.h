/* Streams. Work is executed by the submitting thread while the stream is idle, so most streams never queue.
 * Host functions, and whatever is submitted behind them, are executed in order by a worker thread. */
#ifndef SIMCUDA_STREAM_H
#define SIMCUDA_STREAM_H

#include "context.h"
#include "object.h"
#include "operation.h"

struct capture;

enum { STREAM_PRIORITY_LEAST = 0, STREAM_PRIORITY_GREATEST = -5, STREAM_ATTRIBUTES = 17 };

struct CUstream_st {
    struct object object;
    struct CUctx_st *context;
    struct CUstream_st *next; /* in the context's list */
    unsigned flags;
    int priority;
    uint64_t id;
    bool is_legacy, is_per_thread;
    _Atomic(struct capture *) capture; /* capture.c: not NULL while capturing */
    CUstreamAttrValue attributes[STREAM_ATTRIBUTES];

    /* under stream.c's lock */
    struct queued_operation *first, *last;
    uint64_t submitted, completed; /* queued operations only */
    bool worker_running;
    unsigned references;
};

/* The stream behind a handle: NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD or one made by the client.
 * INVALID_CONTEXT without a current context, INVALID_HANDLE or CONTEXT_IS_DESTROYED and a fault otherwise. */
CUresult stream_resolve(const struct entry *entry, CUstream handle, struct CUstream_st **stream);

/* Start of a STREAM_ENTRY function: counts the call, checks the driver's state and replaces the handle. */
CUresult stream_enter(const struct entry *entry, CUstream *stream);

/* Executes, queues or records `operation`, which is copied. */
CUresult stream_submit(struct CUstream_st *stream, const struct operation *operation);

/* The legacy stream is idle when all blocking streams of its context are. */
bool stream_is_idle(struct CUstream_st *stream);
void stream_wait_idle(struct CUstream_st *stream);

struct CUstream_st *stream_make(struct CUctx_st *context, unsigned flags, int priority);
void stream_end(struct CUstream_st *stream);
/* The context's NULL stream, made with it. */
struct CUstream_st *stream_make_legacy(struct CUctx_st *context);

/* All streams of a context, when it is synchronised or destroyed. */
void streams_wait_idle(struct CUctx_st *context);
void streams_destroy(struct CUctx_st *context);
/* Waits until `counter`, which event.c raises and then announces, has reached `least`. */
void stream_wait_counter(_Atomic uint64_t *counter, uint64_t least);
void stream_announce_counter(void);

/* A thread ended: its per-thread default streams go. */
void streams_thread_ended(struct thread_state *thread);

#endif
