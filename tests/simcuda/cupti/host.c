/* The host API: names, configuration images, evaluation. An image says which kinds of metric it holds, so
 * that the number of passes follows NVIDIA's rule: software-instrumented ("sass") metrics never share a pass
 * with hardware ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "image.h"
#include "stub.h"

struct CUpti_Profiler_Host_Object {
    struct config_image image;
};

static const struct {
    const char *name;
    double value;
} figures[] = {
#define FIGURE(name, value) {name, value},
#include "figures.def"
#undef FIGURE
};

static const double *figure_of(const char *metric)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (strcmp(figures[i].name, metric) == 0 && !stub_listed("SIMCUPTI_UNKNOWN", metric)) {
            return &figures[i].value;
        }
    }
    return NULL;
}

STUB_EXPORT CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params)
{
    STUB_ENTER(params, CUpti_Device_GetChipName_Params);
    params->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Host_Initialize_Params);
    if (!params->pChipName || strcmp(params->pChipName, "GH100") != 0) {
        return CUPTI_ERROR_INVALID_CHIP_NAME;
    }
    params->pHostObject = calloc(1, sizeof *params->pHostObject);
    return params->pHostObject ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

STUB_EXPORT CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Host_Deinitialize_Params);
    free(params->pHostObject);
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult
cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Host_GetMetricProperties_Params);
    return figure_of(params->pMetricName) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_METRIC_NAME;
}

STUB_EXPORT CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Host_ConfigAddMetrics_Params);
    for (size_t i = 0; i < params->numMetrics; i++) {
        if (!figure_of(params->ppMetricNames[i])) {
            return CUPTI_ERROR_INVALID_PARAMETER; /* the whole batch, as the real one does */
        }
    }
    for (size_t i = 0; i < params->numMetrics; i++) {
        bool sass = strstr(params->ppMetricNames[i], "__sass_") != NULL;
        params->pHostObject->image.hardware += !sass;
        params->pHostObject->image.sass += sass;
    }
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Host_GetConfigImageSize_Params);
    params->configImageSize = sizeof(struct config_image);
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Host_GetConfigImage_Params);
    if (params->configImageSize < sizeof(struct config_image)) {
        return stub_violation(__func__, "the buffer is smaller than the image");
    }
    params->pHostObject->image.magic = CONFIG_IMAGE_MAGIC;
    memcpy(params->pConfigImage, &params->pHostObject->image, sizeof(struct config_image));
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Host_GetNumOfPasses_Params);
    const struct config_image *image = (const struct config_image *)params->pConfigImage;
    params->numOfPasses = (size_t)(image->hardware > 0) + (image->sass > 0);
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *params)
{
    STUB_ENTER(params, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    const struct counter_image *image = (const struct counter_image *)params->pCounterDataImage;
    if (image->magic != COUNTER_IMAGE_MAGIC || params->rangeIndex >= image->ranges) {
        return stub_violation(__func__, "no such range in the counter data image");
    }
    for (size_t i = 0; i < params->numMetrics; i++) {
        const double *figure = figure_of(params->ppMetricNames[i]);
        bool sass = strstr(params->ppMetricNames[i], "__sass_") != NULL;
        if (!figure || (sass ? image->config.sass : image->config.hardware) == 0) {
            return CUPTI_ERROR_INVALID_METRIC_NAME; /* not in the configuration that was measured */
        }
        params->pMetricValues[i] = stub_listed("SIMCUPTI_NAN", params->ppMetricNames[i]) ? NAN : *figure;
    }
    return CUPTI_SUCCESS;
}
