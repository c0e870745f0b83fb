/* One context under the range profiler: the call order of CUPTI around a single launch.
 *
 *   session_open    ProfilerInitialize … HostInitialize: once per context; no effect on the GPU
 *   session_enable  RangeProfilerEnable, counter data image, SetConfig for one metric set
 *   session_start / session_stop   around the launch; stop evaluates the one range
 *   session_disable back to normal */
#ifndef WARPWATCH_CUPTI_SESSION_H
#define WARPWATCH_CUPTI_SESSION_H

#include <cuda.h>

#include "cupti/metrics.h"

enum session_state {
    SESSION_CLOSED,
    SESSION_OPEN,    /* plans made, profiler not enabled */
    SESSION_ENABLED, /* configured for `set` */
    SESSION_STARTED, /* a launch is being measured */
    SESSION_FAILED   /* never again in this context */
};

struct session {
    enum session_state state;
    CUcontext context;
    enum metric_set set;
    struct metric_plan plans[METRIC_SETS];
    uint8_t *availability;
    CUpti_RangeProfiler_Object *profiler;
    uint8_t *image; /* counter data */
    size_t image_bytes;
};

/* `context` must be current. A failure leaves the session SESSION_FAILED and the GPU untouched. */
CUptiResult session_open(const struct cupti_api *api, struct session *session, CUcontext context,
                         CUdevice device);
/* Enables for `set`, from SESSION_OPEN or SESSION_ENABLED with another set. */
CUptiResult session_enable(const struct cupti_api *api, struct session *session, enum metric_set set);
/* The last step of session_enable by itself. */
CUptiResult session_configure(const struct cupti_api *api, struct session *session,
                              const struct metric_plan *plan);
CUptiResult session_start(const struct cupti_api *api, struct session *session);
/* CUPTI_SUCCESS with *measured = false: the range was dropped or not alone, the figures are to be thrown
 * away. */
CUptiResult session_stop(const struct cupti_api *api, struct session *session, struct metric_values *values,
                         bool *measured);
void session_disable(const struct cupti_api *api, struct session *session);

#endif
