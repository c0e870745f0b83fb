/* Metric sets by CUPTI's host API. One host object serves one configuration image, because metrics accumulate
 * in it. */
#include "cupti/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum metric_set set;
    const char *name, *alternate;
} metrics[METRICS] = {
#define METRIC(set, field, name, alternate) {set, name, alternate},
#include "cupti/metric_sets.def"
#undef METRIC
};

static bool chip_has(const struct cupti_api *api, CUpti_Profiler_Host_Object *host, const char *name)
{
    CUpti_Profiler_Host_GetMetricProperties_Params query = {
        .structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE,
        .pHostObject = host,
        .pMetricName = name};
    return name && api->cuptiProfilerHostGetMetricProperties(&query) == CUPTI_SUCCESS;
}

/* An unknown name would make CUPTI refuse the whole batch, so each is asked for first. */
static void choose_names(const struct cupti_api *api, enum metric_set set, struct metric_plan *plan)
{
    for (int m = 0; m < METRICS; m++) {
        if (metrics[m].set != set) {
            continue;
        }
        const char *name = chip_has(api, plan->host, metrics[m].name)        ? metrics[m].name
                           : chip_has(api, plan->host, metrics[m].alternate) ? metrics[m].alternate
                                                                             : NULL;
        if (name) {
            plan->names[plan->count] = name;
            plan->metric[plan->count++] = (enum metric)m;
        }
    }
}

static CUptiResult make_image(const struct cupti_api *api, struct metric_plan *plan)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params add = {
        .structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
        .pHostObject = plan->host,
        .ppMetricNames = plan->names,
        .numMetrics = plan->count};
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {
        .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE, .pHostObject = plan->host};
    CUptiResult result = api->cuptiProfilerHostConfigAddMetrics(&add);
    result = result ? result : api->cuptiProfilerHostGetConfigImageSize(&size);
    if (result) {
        return result;
    }
    plan->image_bytes = size.configImageSize;
    plan->image = malloc(plan->image_bytes);
    if (!plan->image) {
        return CUPTI_ERROR_OUT_OF_MEMORY;
    }
    CUpti_Profiler_Host_GetConfigImage_Params get = {
        .structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
        .pHostObject = plan->host,
        .configImageSize = plan->image_bytes,
        .pConfigImage = plan->image};
    CUpti_Profiler_Host_GetNumOfPasses_Params passes = {
        .structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
        .configImageSize = plan->image_bytes,
        .pConfigImage = plan->image};
    result = api->cuptiProfilerHostGetConfigImage(&get);
    result = result ? result : api->cuptiProfilerHostGetNumOfPasses(&passes);
    plan->passes = passes.numOfPasses;
    return result;
}

CUptiResult metric_plan_make(const struct cupti_api *api, const char *chip, const uint8_t *availability,
                             enum metric_set set, struct metric_plan *plan)
{
    CUpti_Profiler_Host_Initialize_Params initialize = {.structSize =
                                                            CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
                                                        .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
                                                        .pChipName = chip,
                                                        .pCounterAvailabilityImage = availability};
    memset(plan, 0, sizeof *plan);
    CUptiResult result = api->cuptiProfilerHostInitialize(&initialize);
    if (result) {
        return result;
    }
    plan->host = initialize.pHostObject;
    choose_names(api, set, plan);
    result = plan->count ? make_image(api, plan) : CUPTI_SUCCESS;
    if (result) {
        metric_plan_free(api, plan);
    }
    return result;
}

void metric_plan_free(const struct cupti_api *api, struct metric_plan *plan)
{
    CUpti_Profiler_Host_Deinitialize_Params end = {
        .structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE, .pHostObject = plan->host};
    if (plan->host) {
        api->cuptiProfilerHostDeinitialize(&end);
    }
    free(plan->image);
    memset(plan, 0, sizeof *plan);
}

CUptiResult metric_plan_evaluate(const struct cupti_api *api, const struct metric_plan *plan,
                                 const uint8_t *image, size_t image_bytes, struct metric_values *values)
{
    double figures[METRICS];
    const char *names[METRICS];
    memcpy(names, plan->names, sizeof names);
    CUpti_Profiler_Host_EvaluateToGpuValues_Params evaluate = {
        .structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
        .pHostObject = plan->host,
        .pCounterDataImage = image,
        .counterDataImageSize = image_bytes,
        .ppMetricNames = names,
        .numMetrics = plan->count,
        .pMetricValues = figures};
    for (int m = 0; m < METRICS; m++) {
        values->value[m] = NAN;
    }
    CUptiResult result = api->cuptiProfilerHostEvaluateToGpuValues(&evaluate);
    for (size_t i = 0; result == CUPTI_SUCCESS && i < plan->count; i++) {
        values->value[plan->metric[i]] = figures[i];
    }
    return result;
}

/* NAN stays NAN through these quotients, and a quotient of nothing is n/a, not 0. */
static double quotient(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

double metric_achieved_occupancy(const struct metric_values *values)
{
    return values->value[METRIC_warps_active_pct] / 100;
}

double metric_lane_utilization(const struct metric_values *values)
{
    return values->value[METRIC_threads_per_instruction] / 32;
}

double metric_branch_efficiency(const struct metric_values *values)
{
    return quotient(values->value[METRIC_branch_targets_uniform], values->value[METRIC_branch_targets]);
}

double metric_sectors_per_request(const struct metric_values *values)
{
    const double *v = values->value;
    return quotient(v[METRIC_global_load_sectors] + v[METRIC_global_store_sectors],
                    v[METRIC_global_load_instructions] + v[METRIC_global_store_instructions]);
}

/* A conflict is a wavefront beyond the one that a request needs, so requests = wavefronts − conflicts. */
double metric_bank_conflicts_per_request(const struct metric_values *values)
{
    double conflicts = values->value[METRIC_shared_bank_conflicts];
    return quotient(conflicts, values->value[METRIC_shared_wavefronts] - conflicts);
}
