/* Says in a person's words why measuring is not possible or has stopped. */
#ifndef WARPWATCH_CUPTI_DIAGNOSE_H
#define WARPWATCH_CUPTI_DIAGNOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "cupti/loader.h"

/* Writes one line: `<what>: <cause>: <way out>`. `api` may be NULL. */
void diagnose_result(char *line, size_t size, const char *what, const struct cupti_api *api,
                     CUptiResult result);

/* The name of a profiler or debugger attached to this process, or NULL. */
const char *diagnose_neighbour(void);

/* The flag that made cuptiProfilerDeviceSupported say no, as a CUPTI result for diagnose_result. */
CUptiResult diagnose_unsupported(const CUpti_Profiler_DeviceSupported_Params *support);

#endif
