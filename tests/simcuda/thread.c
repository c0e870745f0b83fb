/* State of the driver and of each thread; what every call does first; fork and the end of the process. */
#include "context.h"
#include "stream.h"

#include <stdlib.h>

_Atomic int driver_state = DRIVER_UNINITIALIZED;

static __thread struct thread_state *this_thread __attribute__((tls_model("initial-exec")));
static pthread_key_t thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

static const char *const call_names[CALLS] = {
#define EXPORT(symbol, name, version, default_stream) #symbol,
#include "exports.def"
#undef EXPORT
};

const char *call_name(enum call call)
{
    return call_names[call];
}

static void thread_ended(void *state)
{
    struct thread_state *thread = state;
    streams_thread_ended(thread);
    ledger_thread_ended(thread->ledger);
    this_thread = NULL;
    free(thread);
}

static void fork_child(void)
{
    if (atomic_load(&driver_state) != DRIVER_UNINITIALIZED) {
        atomic_store(&driver_state, DRIVER_FORKED);
    }
    if (this_thread) {
        this_thread->ledger = NULL;
    }
    ledger_after_fork_child();
}

static void thread_key_make(void)
{
    pthread_key_create(&thread_key, thread_ended);
    pthread_atfork(ledger_before_fork, ledger_after_fork_parent, fork_child);
}

static struct thread_state *thread_make(void)
{
    pthread_once(&thread_key_once, thread_key_make);
    struct thread_state *thread = calloc(1, sizeof(*thread));
    if (thread) {
        thread->capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
        this_thread = thread;
        pthread_setspecific(thread_key, thread);
    }
    return thread;
}

struct thread_state *thread_current(void)
{
    struct thread_state *thread = this_thread;
    return thread ? thread : thread_make();
}

static CUresult refusal(enum call call, int state)
{
    switch (state) {
    case DRIVER_READY: /* so the thread is inside a host function */
        ledger_fault("call inside a host function: %s", call_name(call));
        return CUDA_ERROR_NOT_PERMITTED;
    case DRIVER_TORN_DOWN:
        ledger_fault("call after teardown: %s", call_name(call));
        return CUDA_ERROR_DEINITIALIZED;
    default:
        return CUDA_ERROR_NOT_INITIALIZED;
    }
}

CUresult driver_enter(enum call call)
{
    struct thread_state *thread = thread_current();
    if (!thread) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    ledger_count_call(call);
    int state = atomic_load_explicit(&driver_state, memory_order_acquire);
    if (state != DRIVER_READY || thread->in_callback) {
        return refusal(call, state);
    }
    return CUDA_SUCCESS;
}

CUresult driver_enter_in_context(enum call call, struct CUctx_st **context)
{
    CUresult result = driver_enter(call);
    if (result == CUDA_SUCCESS) {
        result = context_require_current(context);
    }
    return result;
}

/* After this, as in the real driver, calls made later in the process's exit are refused. */
static void process_ending(void)
{
    int ready = DRIVER_READY;
    atomic_compare_exchange_strong(&driver_state, &ready, DRIVER_TORN_DOWN);
}

void driver_is_ready(void)
{
    atomic_store(&driver_state, DRIVER_READY);
    atexit(process_ending);
}
