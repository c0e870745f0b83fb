/* What the stub's files share: the script that a test wrote, and the log of what the client did. */
#ifndef SIMCUPTI_STUB_H
#define SIMCUPTI_STUB_H

#include <stdbool.h>
#include <stddef.h>

#include <cupti.h>

#define STUB_EXPORT __attribute__((visibility("default")))

/* Counts a call and returns the scripted result of the function, CUPTI_SUCCESS without one. */
CUptiResult stub_called(const char *function);
/* The same for a call with a certain first argument. */
CUptiResult stub_called_for(const char *function, int argument);
/* Records a client's mistake; returns CUPTI_ERROR_INVALID_OPERATION. */
CUptiResult stub_violation(const char *function, const char *what);
/* `size` given against the smallest that holds all fields. */
CUptiResult stub_check_size(const char *function, size_t given, size_t least);

/* Whether some context has the range profiler enabled; absent in a library without it. */
__attribute__((weak)) bool stub_range_profiling(void);

long stub_number(const char *variable, long otherwise);
/* Whether the comma-separated list in `variable` holds `item`. */
bool stub_listed(const char *variable, const char *item);

/* Every entry: count, scripted failure, size check. */
#define STUB_ENTER(params, type)                                                                             \
    do {                                                                                                     \
        CUptiResult entered = stub_called(__func__);                                                         \
        entered = entered ? entered : stub_check_size(__func__, (params)->structSize, type##_STRUCT_SIZE);   \
        if (entered) {                                                                                       \
            return entered;                                                                                  \
        }                                                                                                    \
    } while (0)

#endif
