/* The range profiler's target side: enforces the order of calls in each context. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include "image.h"
#include "observer.h"
#include "stub.h"

struct CUpti_RangeProfiler_Object {
    bool configured, started;
    struct config_image config;
    struct counter_image *image;
    uint64_t launches_at_start, launches;
};

static bool initialized;
static int enabled; /* contexts with a profiler */

bool stub_range_profiling(void)
{
    return enabled > 0;
}

STUB_EXPORT CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Initialize_Params);
    initialized = true;
    return CUPTI_SUCCESS;
}

/* The real library crashes where this one complains: its target calls need cuptiProfilerInitialize. */
static CUptiResult need_initialized(const char *function)
{
    return initialized ? CUPTI_SUCCESS : stub_violation(function, "called before cuptiProfilerInitialize");
}

static CUpti_Profiler_Support_Level level(const char *flag)
{
    return stub_listed("SIMCUPTI_UNSUPPORTED", flag) ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
                                                     : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
}

STUB_EXPORT CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_DeviceSupported_Params);
    params->architecture = level("architecture");
    params->sli = level("sli");
    params->vGpu = level("vGpu");
    params->confidentialCompute = level("confidentialCompute");
    params->cmp = level("cmp");
    params->wsl = level("wsl");
    params->isSupported = getenv("SIMCUPTI_UNSUPPORTED") ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
                                                         : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    return need_initialized(__func__);
}

STUB_EXPORT CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_GetCounterAvailability_Params);
    if (params->pCounterAvailabilityImage) {
        memset(params->pCounterAvailabilityImage, 0, params->counterAvailabilityImageSize);
    }
    params->counterAvailabilityImageSize = 64;
    return need_initialized(__func__);
}

STUB_EXPORT CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *params)
{
    STUB_ENTER(params, CUpti_RangeProfiler_Enable_Params);
    if (!params->ctx) {
        return stub_violation(__func__, "no context");
    }
    if (enabled++) {
        return stub_violation(__func__, "enabled twice");
    }
    params->pRangeProfilerObject = calloc(1, sizeof *params->pRangeProfilerObject);
    return need_initialized(__func__);
}

STUB_EXPORT CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *params)
{
    STUB_ENTER(params, CUpti_RangeProfiler_Disable_Params);
    if (params->pRangeProfilerObject->started) {
        return stub_violation(__func__, "disabled between Start and Stop");
    }
    free(params->pRangeProfilerObject);
    enabled--;
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *params)
{
    STUB_ENTER(params, CUpti_RangeProfiler_GetCounterDataSize_Params);
    if (params->maxNumRangeTreeNodes < params->maxNumOfRanges || params->maxNumOfRanges == 0) {
        return stub_violation(__func__, "fewer tree nodes than ranges");
    }
    params->counterDataSize = sizeof(struct counter_image);
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult
cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params *params)
{
    STUB_ENTER(params, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    *(struct counter_image *)params->pCounterData = (struct counter_image){.magic = COUNTER_IMAGE_MAGIC};
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *params)
{
    STUB_ENTER(params, CUpti_RangeProfiler_SetConfig_Params);
    CUpti_RangeProfiler_Object *profiler = params->pRangeProfilerObject;
    struct counter_image *image = (struct counter_image *)params->pCounterDataImage;
    const struct config_image *config = (const struct config_image *)params->pConfig;
    if (profiler->started || params->configSize != sizeof *config || config->magic != CONFIG_IMAGE_MAGIC ||
        params->counterDataImageSize != sizeof *image || image->magic != COUNTER_IMAGE_MAGIC) {
        return stub_violation(__func__, "images not initialised, or a launch is being measured");
    }
    if (params->range != CUPTI_AutoRange || params->numNestingLevels != 1 || params->minNestingLevel != 1 ||
        params->maxRangesPerPass < 1) {
        return stub_violation(__func__, "auto range wants one nesting level from level 1 on");
    }
    profiler->config = *config;
    profiler->image = image;
    profiler->configured = true;
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *params)
{
    STUB_ENTER(params, CUpti_RangeProfiler_Start_Params);
    CUpti_RangeProfiler_Object *profiler = params->pRangeProfilerObject;
    if (!profiler->configured || profiler->started) {
        return stub_violation(__func__, profiler->started ? "started twice" : "Start before SetConfig");
    }
    profiler->started = true;
    profiler->launches_at_start = observer_launches();
    return CUPTI_SUCCESS;
}

static void sleep_milliseconds(long milliseconds)
{
    const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* A Stop that fails leaves nothing to stop again: all that a client can do then is to disable. */
STUB_EXPORT CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *params)
{
    CUpti_RangeProfiler_Object *profiler = params->pRangeProfilerObject;
    bool started = profiler->started;
    profiler->started = false;
    STUB_ENTER(params, CUpti_RangeProfiler_Stop_Params);
    if (!started) {
        return stub_violation(__func__, "Stop without Start");
    }
    sleep_milliseconds(stub_number("SIMCUPTI_SLOW_STOP_MS", 0));
    profiler->launches = observer_launches() - profiler->launches_at_start;
    params->isAllPassSubmitted = 1;
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *params)
{
    STUB_ENTER(params, CUpti_RangeProfiler_DecodeData_Params);
    CUpti_RangeProfiler_Object *profiler = params->pRangeProfilerObject;
    if (profiler->started || !profiler->image) {
        return stub_violation(__func__, "decoded before Stop");
    }
    profiler->image->ranges = (uint32_t)stub_number("SIMCUPTI_RANGES", (long)profiler->launches);
    profiler->image->config = profiler->config;
    params->numOfRangeDropped = (size_t)stub_number("SIMCUPTI_DROPPED", 0);
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *params)
{
    STUB_ENTER(params, CUpti_RangeProfiler_GetCounterDataInfo_Params);
    params->numTotalRanges = ((const struct counter_image *)params->pCounterDataImage)->ranges;
    return CUPTI_SUCCESS;
}
