/* The metric sets, and CUPTI's host API over them: which names a chip has, the configuration image of a set,
 * and the figures of a decoded range. Needs no GPU and no driver. */
#ifndef WARPWATCH_METRICS_H
#define WARPWATCH_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/loader.h"

enum metric_set { METRIC_SET_A, METRIC_SET_B, METRIC_SETS };

enum metric {
#define METRIC(set, field, name, alternate) METRIC_##field,
#include "cupti/metric_sets.def"
#undef METRIC
    METRICS
};

/* One set on one chip. `metric[i]` is what `names[i]` measures. */
struct metric_plan {
    const char *names[METRICS];
    enum metric metric[METRICS];
    size_t count;
    uint8_t *
        image; /* configuration image, image_bytes long, from malloc; NULL when nothing of the set is there */
    size_t image_bytes;
    size_t passes;
    CUpti_Profiler_Host_Object *host;
};

/* Figures of one measured launch; NAN where a metric was dropped or unavailable. */
struct metric_values {
    double value[METRICS];
};

/* `availability` is the context's counter availability image, or NULL. CUPTI_SUCCESS with count = 0 is
 * possible. */
CUptiResult metric_plan_make(const struct cupti_api *api, const char *chip, const uint8_t *availability,
                             enum metric_set set, struct metric_plan *plan);
void metric_plan_free(const struct cupti_api *api, struct metric_plan *plan);

CUptiResult metric_plan_evaluate(const struct cupti_api *api, const struct metric_plan *plan,
                                 const uint8_t *image, size_t image_bytes, struct metric_values *values);

/* The report's figures from one or two sets' values; NAN = n/a (no branch, no shared access, not collected).
 */
double metric_achieved_occupancy(const struct metric_values *values);
double metric_lane_utilization(const struct metric_values *values);
double metric_branch_efficiency(const struct metric_values *values);
double metric_sectors_per_request(const struct metric_values *values);
double metric_bank_conflicts_per_request(const struct metric_values *values);

#endif
