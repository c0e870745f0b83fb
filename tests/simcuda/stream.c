/* Streams: handles, and the queues behind host functions.
 *
 * One lock and one condition for all queues: they exist only while a host function or a wait is ahead of
 * other work, which is rare. `busy_streams` of the context is what the fast path looks at. */
#include "stream.h"

#include "capture.h"
#include "event.h"
#include "memory.h"
#include "require.h"

#include <stdlib.h>

struct queued_operation {
    struct queued_operation *next;
    struct operation operation;
};

struct thread_stream {
    struct thread_stream *next;
    struct CUstream_st *stream;
    uint64_t context_id;
};

static struct pool stream_pool = POOL(struct CUstream_st);
static _Atomic uint64_t next_id = 1;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_progress = PTHREAD_COND_INITIALIZER;
static _Atomic unsigned counters_watched;

/* --- making and ending --------------------------------------------------------------------------------- */

struct CUstream_st *stream_make(struct CUctx_st *context, unsigned flags, int priority)
{
    struct CUstream_st *stream = pool_take(&stream_pool, OBJECT_STREAM);
    if (!stream) {
        return NULL;
    }
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = atomic_fetch_add(&next_id, 1);
    stream->references = 1;
    pthread_mutex_lock(&context->lock);
    stream->next = context->streams;
    context->streams = stream;
    pthread_mutex_unlock(&context->lock);
    return stream;
}

struct CUstream_st *stream_make_legacy(struct CUctx_st *context)
{
    struct CUstream_st *stream = stream_make(context, CU_STREAM_DEFAULT, 0);
    if (stream) {
        stream->is_legacy = true;
    }
    return stream;
}

/* Under the queue lock. A stream with queued work outlives its handle. */
static void stream_drop(struct CUstream_st *stream)
{
    if (--stream->references == 0) {
        pool_give(&stream_pool, stream);
    }
}

static void unlink_from_context(struct CUstream_st *stream)
{
    struct CUctx_st *context = stream->context;
    pthread_mutex_lock(&context->lock);
    struct CUstream_st **link = &context->streams;
    while (*link && *link != stream) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = stream->next;
    }
    pthread_mutex_unlock(&context->lock);
}

void stream_end(struct CUstream_st *stream)
{
    if (atomic_load(&stream->capture)) {
        capture_stream_ending(stream);
    }
    unlink_from_context(stream);
    atomic_store(&stream->object.kind, OBJECT_DEAD);
    pthread_mutex_lock(&queue_lock);
    stream_drop(stream);
    pthread_mutex_unlock(&queue_lock);
}

void streams_destroy(struct CUctx_st *context)
{
    streams_wait_idle(context);
    while (context->streams) {
        stream_end(context->streams);
    }
}

/* --- handles ------------------------------------------------------------------------------------------- */

static struct CUstream_st *per_thread_stream(struct thread_state *thread, struct CUctx_st *context)
{
    for (struct thread_stream *own = thread->streams; own; own = own->next) {
        if (own->context_id == context->id) {
            return own->stream;
        }
    }
    struct thread_stream *own = calloc(1, sizeof(*own));
    struct CUstream_st *stream = own ? stream_make(context, CU_STREAM_DEFAULT, 0) : NULL;
    if (!stream) {
        free(own);
        return NULL;
    }
    stream->is_per_thread = true;
    *own = (struct thread_stream){thread->streams, stream, context->id};
    thread->streams = own;
    return stream;
}

void streams_thread_ended(struct thread_state *thread)
{
    while (thread->streams) {
        struct thread_stream *own = thread->streams;
        thread->streams = own->next;
        if (object_is(own->stream, OBJECT_STREAM) && own->stream->is_per_thread &&
            own->stream->context->id == own->context_id) {
            stream_end(own->stream);
        }
        free(own);
    }
}

static CUresult default_stream(bool per_thread, struct CUstream_st **stream)
{
    struct CUctx_st *context;
    TRY(context_require_current(&context));
    *stream = per_thread ? per_thread_stream(thread_current(), context) : context->legacy;
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult stream_resolve(const struct entry *entry, CUstream handle, struct CUstream_st **stream)
{
    if (!handle) {
        return default_stream(entry->per_thread, stream);
    }
    if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        return default_stream(handle == CU_STREAM_PER_THREAD, stream);
    }
    if (!object_is(handle, OBJECT_STREAM)) {
        return object_refuse(handle, entry->call);
    }
    *stream = handle;
    return CUDA_SUCCESS;
}

CUresult stream_enter(const struct entry *entry, CUstream *stream)
{
    struct CUctx_st *context;
    TRY(driver_enter_in_context(entry->call, &context));
    return stream_resolve(entry, *stream, stream);
}

/* --- queues -------------------------------------------------------------------------------------------- */

/* Under the lock. */
static void wait_for_ticket(struct CUstream_st *stream, uint64_t ticket)
{
    while (stream->completed < ticket) {
        pthread_cond_wait(&queue_progress, &queue_lock);
    }
}

static void execute_queued(struct operation *operation)
{
    if (operation->kind == OPERATION_BARRIER) {
        pthread_mutex_lock(&queue_lock);
        wait_for_ticket(operation->barrier.stream, operation->barrier.ticket);
        stream_drop(operation->barrier.stream);
        pthread_mutex_unlock(&queue_lock);
    } else {
        operation_execute(operation);
    }
}

/* Runs until the queue is empty; the next operation to be queued starts another worker. */
static void *worker(void *argument)
{
    struct CUstream_st *stream = argument;
    pthread_mutex_lock(&queue_lock);
    while (stream->first) {
        struct queued_operation *head = stream->first;
        pthread_mutex_unlock(&queue_lock);
        execute_queued(&head->operation);
        pthread_mutex_lock(&queue_lock);
        stream->first = head->next;
        free(head);
        stream->completed++;
        pthread_cond_broadcast(&queue_progress);
    }
    stream->last = NULL;
    stream->worker_running = false;
    atomic_fetch_sub(&stream->context->busy_streams, 1);
    stream_drop(stream);
    pthread_mutex_unlock(&queue_lock);
    return NULL;
}

/* Under the lock. */
static CUresult worker_start(struct CUstream_st *stream)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &attributes, worker, stream);
    pthread_attr_destroy(&attributes);
    if (failed) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    stream->worker_running = true;
    stream->references++;
    atomic_fetch_add(&stream->context->busy_streams, 1);
    return CUDA_SUCCESS;
}

static CUresult enqueue(struct CUstream_st *stream, const struct operation *operation)
{
    struct queued_operation *queued = malloc(sizeof(*queued));
    if (!queued) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *queued = (struct queued_operation){NULL, *operation};
    struct queued_operation **end = stream->first ? &stream->last->next : &stream->first;
    *end = queued;
    if (!stream->worker_running) {
        CUresult result = worker_start(stream);
        if (result != CUDA_SUCCESS) {
            stream->first = NULL;
            free(queued);
            return result;
        }
    }
    stream->last = queued;
    stream->submitted++;
    return CUDA_SUCCESS;
}

static CUresult enqueue_barrier(struct CUstream_st *stream, struct CUstream_st *ahead)
{
    struct operation barrier = {.kind = OPERATION_BARRIER,
                                .barrier = {.stream = ahead, .ticket = ahead->submitted}};
    ahead->references++;
    CUresult result = enqueue(stream, &barrier);
    if (result != CUDA_SUCCESS) {
        ahead->references--;
    }
    return result;
}

/* The legacy stream waits for all blocking streams, and they for it. Under the lock. */
static CUresult enqueue_barriers(struct CUstream_st *stream)
{
    struct CUctx_st *context = stream->context;
    CUresult result = CUDA_SUCCESS;
    if (stream->flags & CU_STREAM_NON_BLOCKING) {
        return result;
    }
    pthread_mutex_lock(&context->lock);
    for (struct CUstream_st *other = context->streams; other && result == CUDA_SUCCESS; other = other->next) {
        bool orders = other != stream && (stream->is_legacy || other->is_legacy);
        if (orders && !(other->flags & CU_STREAM_NON_BLOCKING) && other->first) {
            result = enqueue_barrier(stream, other);
        }
    }
    pthread_mutex_unlock(&context->lock);
    return result;
}

/* What may take long, or runs the client's code, which may want locks that the submitting thread holds. */
static bool wants_worker(const struct operation *operation)
{
    switch (operation->kind) {
    case OPERATION_HOST:
        return true;
    case OPERATION_WAIT:
        return atomic_load(&operation->event.event->completed) < operation->event.ticket;
    case OPERATION_MEMORY_WORD:
        return !memory_word_ready(&operation->word);
    case OPERATION_GRAPH:
        return operation->graph.wants_worker;
    default:
        return false;
    }
}

static CUresult submit_ordered(struct CUstream_st *stream, const struct operation *operation)
{
    pthread_mutex_lock(&queue_lock);
    CUresult result = enqueue_barriers(stream);
    bool queued = result == CUDA_SUCCESS && (stream->first || wants_worker(operation));
    if (queued) {
        result = enqueue(stream, operation);
    }
    pthread_mutex_unlock(&queue_lock);
    return result == CUDA_SUCCESS && !queued ? operation_execute(operation) : result;
}

CUresult stream_submit(struct CUstream_st *stream, const struct operation *operation)
{
    struct CUctx_st *context = stream->context;
    if (atomic_load_explicit(&stream->capture, memory_order_acquire)) {
        return capture_record(stream, operation);
    }
    if (stream->is_legacy && atomic_load_explicit(&context->capturing_blocking, memory_order_relaxed)) {
        return capture_refuse_legacy(stream);
    }
    if (atomic_load_explicit(&context->busy_streams, memory_order_acquire) == 0 && !wants_worker(operation)) {
        return operation_execute(operation);
    }
    return submit_ordered(stream, operation);
}

/* --- waiting ------------------------------------------------------------------------------------------- */

/* The legacy stream is idle when all blocking streams are. Under the lock. */
static bool is_idle(struct CUstream_st *stream)
{
    bool idle = stream->first == NULL;
    struct CUctx_st *context = stream->context;
    if (stream->is_legacy) {
        pthread_mutex_lock(&context->lock);
        for (struct CUstream_st *other = context->streams; other && idle; other = other->next) {
            idle = (other->flags & CU_STREAM_NON_BLOCKING) || other->first == NULL;
        }
        pthread_mutex_unlock(&context->lock);
    }
    return idle;
}

bool stream_is_idle(struct CUstream_st *stream)
{
    if (atomic_load_explicit(&stream->context->busy_streams, memory_order_acquire) == 0) {
        return true;
    }
    pthread_mutex_lock(&queue_lock);
    bool idle = is_idle(stream);
    pthread_mutex_unlock(&queue_lock);
    return idle;
}

void stream_wait_idle(struct CUstream_st *stream)
{
    if (stream_is_idle(stream)) {
        return;
    }
    pthread_mutex_lock(&queue_lock);
    stream->references++;
    if (stream->is_legacy) {
        while (!is_idle(stream)) {
            pthread_cond_wait(&queue_progress, &queue_lock);
        }
    } else {
        wait_for_ticket(stream, stream->submitted);
    }
    stream_drop(stream);
    pthread_mutex_unlock(&queue_lock);
}

void streams_wait_idle(struct CUctx_st *context)
{
    pthread_mutex_lock(&queue_lock);
    while (atomic_load(&context->busy_streams)) {
        pthread_cond_wait(&queue_progress, &queue_lock);
    }
    pthread_mutex_unlock(&queue_lock);
}

void stream_wait_counter(_Atomic uint64_t *counter, uint64_t least)
{
    atomic_fetch_add(&counters_watched, 1); /* before the counter is read: see stream_announce_counter */
    pthread_mutex_lock(&queue_lock);
    while (atomic_load(counter) < least) {
        pthread_cond_wait(&queue_progress, &queue_lock);
    }
    pthread_mutex_unlock(&queue_lock);
    atomic_fetch_sub(&counters_watched, 1);
}

void stream_announce_counter(void)
{
    if (atomic_load(&counters_watched)) {
        pthread_mutex_lock(&queue_lock);
        pthread_cond_broadcast(&queue_progress);
        pthread_mutex_unlock(&queue_lock);
    }
}
