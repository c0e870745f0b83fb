/* Other profilers. Each begins with one of these functions of libcupti, and CUPTI serves one profiler at a
 * time: so they are hooked, and the plug-in gives back what it holds before the real one is called. */
#ifndef WARPWATCH_PROFILERS_H
#define WARPWATCH_PROFILERS_H

#include "platform.h"

enum profiler_api {
    PROFILER_cuptiSubscribe,
    PROFILER_cuptiSubscribe_v2,
    PROFILER_cuptiActivityRegisterCallbacks,
    PROFILER_cuptiProfilerInitialize,
    PROFILER_APIS
};

/* PROFILER_APIS if it is none. */
enum profiler_api profilers_api_of_name(const char *name);
/* Is a libcupti mapped? */
bool profilers_are_possible(void);
/* What a program gets that has looked up the function and would have got `real`. */
void *profilers_handed(enum profiler_api api, void *real);

#endif
