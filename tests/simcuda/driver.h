/* The frame of every exported function: it is counted in the ledger, and refused when the driver is not
 * ready. A file that defines exported functions includes this header first.
 *
 *   COUNT_CALL(cuX)                 for the few functions that work before cuInit
 *   ENTER(cuX)                      returns an error from the function unless the driver is initialised
 *   ENTER_IN_CONTEXT(cuX, context)  … and unless a live context is current; declares it as `context`
 *
 * A function that exists for both default streams is written once:
 *
 *   STREAM_ENTRY(cuX, _ptsz, (argument names), parameters…)
 *   {
 *       ENTER_STREAM(stream);       like ENTER_IN_CONTEXT; resolves the handle `stream` in place
 *   }
 */
#ifndef SIMCUDA_DRIVER_H
#define SIMCUDA_DRIVER_H

/* Declares every variant of every function: v1, v2 …, _ptsz, _ptds. What it declares is what we export. */
#define __CUDA_API_VERSION_INTERNAL
#pragma GCC visibility push(default)
#include <cuda.h>
#include <cudaProfiler.h>
#pragma GCC visibility pop
#ifndef SIMCUDA_EXPORTED_NAMES /* by whoever needs the addresses that clients get */
#include "observed.h"
#endif

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum call {
#define EXPORT(symbol, name, version, default_stream) CALL_##symbol,
#include "exports.def"
#undef EXPORT
    CALLS
};

enum driver_state {
    DRIVER_UNINITIALIZED,
    DRIVER_READY,
    DRIVER_FORKED,   /* child of a process that had initialised: every call is refused */
    DRIVER_TORN_DOWN /* the process is exiting and has run our destructor */
};
extern _Atomic int driver_state;
/* At the end of cuInit; from then on the end of the process tears the driver down. */
void driver_is_ready(void);

struct entry {
    enum call call;
    bool per_thread; /* the NULL stream is the thread's own */
};

#define MAX_CONTEXT_STACK 64

struct CUctx_st;
struct CUstream_st;
struct ledger_shard;

struct thread_state {
    struct CUctx_st *contexts[MAX_CONTEXT_STACK];
    unsigned depth;
    bool in_callback; /* inside a host function: calls are not permitted */
    CUstreamCaptureMode capture_mode;
    struct thread_stream *streams; /* per-thread default streams, one a context */
    struct ledger_thread *ledger;
};

/* The calling thread's state, made on first use; NULL only when memory has run out. */
struct thread_state *thread_current(void);

/* Counts the call and says whether it may go on. */
CUresult driver_enter(enum call call);
CUresult driver_enter_in_context(enum call call, struct CUctx_st **context);

/* The name of an exported function. */
const char *call_name(enum call call);

#define COUNT_CALL(symbol) ledger_count_call(CALL_##symbol)

#define ENTER(symbol)                                                                                        \
    do {                                                                                                     \
        CUresult entered_ = driver_enter(CALL_##symbol);                                                     \
        if (entered_ != CUDA_SUCCESS) {                                                                      \
            return entered_;                                                                                 \
        }                                                                                                    \
    } while (0)

#define ENTER_IN_CONTEXT(symbol, context)                                                                    \
    struct CUctx_st *context;                                                                                \
    do {                                                                                                     \
        CUresult entered_ = driver_enter_in_context(CALL_##symbol, &(context));                              \
        if (entered_ != CUDA_SUCCESS) {                                                                      \
            return entered_;                                                                                 \
        }                                                                                                    \
    } while (0)

#define STREAM_ENTRY(symbol, suffix, arguments, ...)                                                         \
    static inline CUresult symbol##_with(const struct entry *entry, __VA_ARGS__);                            \
    CUresult CUDAAPI symbol(__VA_ARGS__)                                                                     \
    {                                                                                                        \
        static const struct entry entry = {CALL_##symbol, false};                                            \
        return symbol##_with(&entry, STREAM_ARGUMENTS arguments);                                            \
    }                                                                                                        \
    CUresult CUDAAPI symbol##suffix(__VA_ARGS__)                                                             \
    {                                                                                                        \
        static const struct entry entry = {CALL_##symbol##suffix, true};                                     \
        return symbol##_with(&entry, STREAM_ARGUMENTS arguments);                                            \
    }                                                                                                        \
    static inline CUresult symbol##_with(const struct entry *entry, __VA_ARGS__)
#define STREAM_ARGUMENTS(...) __VA_ARGS__

#define ENTER_STREAM(stream)                                                                                 \
    do {                                                                                                     \
        CUresult entered_ = stream_enter(entry, &(stream));                                                  \
        if (entered_ != CUDA_SUCCESS) {                                                                      \
            return entered_;                                                                                 \
        }                                                                                                    \
    } while (0)

#include "ledger.h"

#endif
