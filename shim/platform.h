/* What the shim needs of compiler and kernel, in one place. System calls whose libc wrappers are younger than
 * GLIBC_2.17 (or bind to newer versions) are made directly, so that the library loads on old systems too. */
#ifndef WARPWATCH_PLATFORM_H
#define WARPWATCH_PLATFORM_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIKELY(x)     __builtin_expect(!!(x), 1)
#define UNLIKELY(x)   __builtin_expect(!!(x), 0)
#define EXPORT        __attribute__((visibility("default")))
#define HIDDEN        __attribute__((visibility("hidden")))
#define COLD          __attribute__((noinline, cold))
#define ALWAYS_INLINE inline __attribute__((always_inline))
/* Thread-local storage of a preloaded library must not call into the allocator: initial-exec, and tiny. */
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

#define load_relaxed(pointer)         atomic_load_explicit(pointer, memory_order_relaxed)
#define load_acquire(pointer)         atomic_load_explicit(pointer, memory_order_acquire)
#define store_relaxed(pointer, value) atomic_store_explicit(pointer, value, memory_order_relaxed)
#define store_release(pointer, value) atomic_store_explicit(pointer, value, memory_order_release)

#define PAGE_BYTES 4096u

static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Hooks must leave errno as the real function left it. Nor may a thread that is cancelled end in one of our
 * system calls, or anywhere if its cancellation is asynchronous, with a lock in its hands. (The state alone
 * does not do: glibc's pthread_cancel may have seen the one before, and its signal looks at the type.) */
struct kept {
    int error, cancellation, type;
};

static inline struct kept keep_thread(void)
{
    struct kept kept = {errno, PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DEFERRED};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &kept.cancellation);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &kept.type);
    return kept;
}

static inline void restore_thread(struct kept *kept)
{
    int ours;
    pthread_setcanceltype(kept->type, &ours);
    pthread_setcancelstate(kept->cancellation, &ours);
    errno = kept->error;
}
#define KEEP_ERRNO __attribute__((cleanup(restore_thread), unused)) struct kept kept = keep_thread()

#endif
