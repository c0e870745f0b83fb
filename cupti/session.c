/* The range profiler's life cycle in one context, every step checked; after any error the profiler is
 * disabled and the context is left alone. */
#include "cupti/session.h"

#include <stdlib.h>
#include <string.h>

#include "cupti/diagnose.h"

static CUptiResult check_support(const struct cupti_api *api, CUdevice device)
{
    CUpti_Profiler_DeviceSupported_Params support = {.structSize =
                                                         CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
                                                     .cuDevice = device,
                                                     .api = CUPTI_PROFILER_RANGE_PROFILING};
    CUptiResult result = api->cuptiProfilerDeviceSupported(&support);
    if (result == CUPTI_SUCCESS && support.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
        result = diagnose_unsupported(&support);
    }
    return result;
}

static CUptiResult read_availability(const struct cupti_api *api, struct session *session)
{
    CUpti_Profiler_GetCounterAvailability_Params query = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE, .ctx = session->context};
    CUptiResult result = api->cuptiProfilerGetCounterAvailability(&query);
    if (result) {
        return result;
    }
    session->availability = malloc(query.counterAvailabilityImageSize);
    if (!session->availability) {
        return CUPTI_ERROR_OUT_OF_MEMORY;
    }
    query.pCounterAvailabilityImage = session->availability;
    return api->cuptiProfilerGetCounterAvailability(&query);
}

static CUptiResult make_plans(const struct cupti_api *api, struct session *session, CUdevice device)
{
    CUpti_Device_GetChipName_Params chip = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
                                            .deviceIndex = (size_t)device};
    CUptiResult result = api->cuptiDeviceGetChipName(&chip);
    for (int set = 0; result == CUPTI_SUCCESS && set < METRIC_SETS; set++) {
        result = metric_plan_make(api, chip.pChipName, session->availability, (enum metric_set)set,
                                  &session->plans[set]);
    }
    return result;
}

/* cuptiProfilerInitialize gates everything: without a working driver the other target calls crash
 * (CUPTI 13.0). */
CUptiResult session_open(const struct cupti_api *api, struct session *session, CUcontext context,
                         CUdevice device)
{
    CUpti_Profiler_Initialize_Params initialize = {.structSize =
                                                       CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    memset(session, 0, sizeof *session);
    session->context = context;
    CUptiResult result = api->cuptiProfilerInitialize(&initialize);
    result = result ? result : check_support(api, device);
    result = result ? result : read_availability(api, session);
    result = result ? result : make_plans(api, session, device);
    session->state = result ? SESSION_FAILED : SESSION_OPEN;
    return result;
}

static CUptiResult enable_profiler(const struct cupti_api *api, struct session *session)
{
    CUpti_RangeProfiler_Enable_Params enable = {.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
                                                .ctx = session->context};
    CUptiResult result = api->cuptiRangeProfilerEnable(&enable);
    session->profiler = result ? NULL : enable.pRangeProfilerObject;
    return result;
}

static CUptiResult clear_image(const struct cupti_api *api, struct session *session)
{
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params clear = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = session->profiler,
        .counterDataSize = session->image_bytes,
        .pCounterData = session->image};
    return api->cuptiRangeProfilerCounterDataImageInitialize(&clear);
}

static CUptiResult make_image(const struct cupti_api *api, struct session *session,
                              const struct metric_plan *plan)
{
    const char *names[METRICS];
    memcpy(names, plan->names, sizeof names);
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = session->profiler,
        .pMetricNames = names,
        .numMetrics = plan->count,
        .maxNumOfRanges = 1,
        .maxNumRangeTreeNodes = 1};
    CUptiResult result = api->cuptiRangeProfilerGetCounterDataSize(&size);
    if (result) {
        return result;
    }
    free(session->image);
    session->image_bytes = size.counterDataSize;
    session->image = calloc(1, session->image_bytes);
    return session->image ? clear_image(api, session) : CUPTI_ERROR_OUT_OF_MEMORY;
}

CUptiResult session_configure(const struct cupti_api *api, struct session *session,
                              const struct metric_plan *plan)
{
    CUpti_RangeProfiler_SetConfig_Params config = {.structSize =
                                                       CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
                                                   .pRangeProfilerObject = session->profiler,
                                                   .configSize = plan->image_bytes,
                                                   .pConfig = plan->image,
                                                   .counterDataImageSize = session->image_bytes,
                                                   .pCounterDataImage = session->image,
                                                   .range = CUPTI_AutoRange,
                                                   .replayMode = CUPTI_KernelReplay,
                                                   .maxRangesPerPass = 1,
                                                   .numNestingLevels = 1,
                                                   .minNestingLevel = 1,
                                                   .passIndex = 0,
                                                   .targetNestingLevel = 0};
    return api->cuptiRangeProfilerSetConfig(&config);
}

static CUptiResult fail(const struct cupti_api *api, struct session *session, CUptiResult result)
{
    session_disable(api, session);
    session->state = SESSION_FAILED;
    return result;
}

/* Whether SetConfig may change the set of an enabled profiler is documented nowhere: disabling first always
 * works. */
CUptiResult session_enable(const struct cupti_api *api, struct session *session, enum metric_set set)
{
    const struct metric_plan *plan = &session->plans[set];
    session_disable(api, session);
    if (session->state != SESSION_OPEN || plan->passes != 1) {
        return CUPTI_ERROR_INVALID_OPERATION;
    }
    CUptiResult result = enable_profiler(api, session);
    result = result ? result : make_image(api, session, plan);
    result = result ? result : session_configure(api, session, plan);
    if (result) {
        return fail(api, session, result);
    }
    session->set = set;
    session->state = SESSION_ENABLED;
    return CUPTI_SUCCESS;
}

CUptiResult session_start(const struct cupti_api *api, struct session *session)
{
    CUpti_RangeProfiler_Start_Params start = {.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = session->profiler};
    CUptiResult result = api->cuptiRangeProfilerStart(&start);
    if (result) {
        return fail(api, session, result);
    }
    session->state = SESSION_STARTED;
    return CUPTI_SUCCESS;
}

static CUptiResult decode(const struct cupti_api *api, struct session *session, bool *measured)
{
    CUpti_RangeProfiler_DecodeData_Params data = {.structSize =
                                                      CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
                                                  .pRangeProfilerObject = session->profiler};
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
        .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
        .pCounterDataImage = session->image,
        .counterDataImageSize = session->image_bytes};
    CUptiResult result = api->cuptiRangeProfilerDecodeData(&data);
    result = result ? result : api->cuptiRangeProfilerGetCounterDataInfo(&info);
    *measured = result == CUPTI_SUCCESS && data.numOfRangeDropped == 0 && info.numTotalRanges == 1;
    return result;
}

CUptiResult session_stop(const struct cupti_api *api, struct session *session, struct metric_values *values,
                         bool *measured)
{
    CUpti_RangeProfiler_Stop_Params stop = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                            .pRangeProfilerObject = session->profiler};
    *measured = false;
    session->state = SESSION_ENABLED;
    CUptiResult result = api->cuptiRangeProfilerStop(&stop);
    result = result ? result : decode(api, session, measured);
    if (result == CUPTI_SUCCESS && *measured) {
        result = metric_plan_evaluate(api, &session->plans[session->set], session->image,
                                      session->image_bytes, values);
    }
    result = result ? result : clear_image(api, session);
    return result ? fail(api, session, result) : CUPTI_SUCCESS;
}

void session_disable(const struct cupti_api *api, struct session *session)
{
    if (session->profiler) {
        CUpti_RangeProfiler_Disable_Params disable = {.structSize =
                                                          CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
                                                      .pRangeProfilerObject = session->profiler};
        if (session->state == SESSION_STARTED) {
            CUpti_RangeProfiler_Stop_Params stop = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                                    .pRangeProfilerObject = session->profiler};
            api->cuptiRangeProfilerStop(&stop);
        }
        api->cuptiRangeProfilerDisable(&disable);
        session->profiler = NULL;
    }
    if (session->state == SESSION_ENABLED || session->state == SESSION_STARTED) {
        session->state = SESSION_OPEN;
    }
}
