/* The rhythm of every hook: enter, call the real function, record once, leave. HOOK_ENTRIES makes two entries
 * for a hooked function: the exported one goes to the next definition after ours, as the program's own
 * reference would have; the handed one stands in for an address of libcuda that the program looked up, and
 * goes there. A call that the driver, or a wrapper in between, makes while a hook is under way on the same
 * thread is passed to libcuda and not recorded again. */
#ifndef WARPWATCH_HOOK_H
#define WARPWATCH_HOOK_H

#include "driver.h"
#include "thread.h"

struct call {
    enum driver_api api;
    void *real;
    const void *caller;
};

/* The real function, in a wrapper whose first parameter is `call`; `name` gives the type. */
#define REAL(name) ((__typeof__(&name))call.real)

#define HOOK_UNPACK(...) __VA_ARGS__

#define HOOK_BODY(name, wrapper, arguments, found)                                                           \
    void *real = (found);                                                                                    \
    if (UNLIKELY(real == NULL)) {                                                                            \
        return CUDA_ERROR_NOT_INITIALIZED;                                                                   \
    }                                                                                                        \
    if (UNLIKELY(thread.nested)) {                                                                           \
        return ((name##_function *)real)arguments;                                                           \
    }                                                                                                        \
    thread.nested = true;                                                                                    \
    CUresult result =                                                                                        \
        wrapper((struct call){API_##name, real, __builtin_return_address(0)}, HOOK_UNPACK arguments);        \
    thread.nested = false;                                                                                   \
    return result;

#define HOOK_ENTRIES(name, wrapper, parameters, arguments)                                                   \
    typedef CUresult name##_function parameters;                                                             \
    EXPORT name##_function name;                                                                             \
    HIDDEN name##_function handed_##name;                                                                    \
    CUresult name parameters{HOOK_BODY(                                                                      \
        name, wrapper, arguments,                                                                            \
        thread.nested ? driver_own(API_##name) : driver_next(API_##name))} CUresult handed_##name parameters \
    {                                                                                                        \
        HOOK_BODY(name, wrapper, arguments, load_relaxed(&driver_own_functions[API_##name]))                 \
    }

#endif
