/* Turns what a store says of a configuration into occupancy and waves. The driver's own answers go first; the
 * model explains them, and stands in where there are none. */
#include "judge.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/clusters.h"
#include "model/waves.h"

const char *const source_names[] = {NULL, "driver", "model", "measured", "estimated"};
const char *const finding_severity_names[] = {"high", "medium", "low", "note"};

/* Larger than any device has, small enough for the ints of the model, which multiplies blocks by warps. */
#define PLAUSIBLE_MOST      (1u << 24)
#define DRIVER_MOST_BLOCKS  1024u
#define CLUSTER_MOST_BLOCKS 1024u

/* --- the SM -------------------------------------------------------------------------------------------- */

/* The driver's value where it is known and plausible. Bit numbers: struct store_device.valid. */
static void take_known(int *into, const struct store_device *limits, unsigned bit, uint32_t value)
{
    if ((limits->valid >> bit & 1) && value > 0 && value < PLAUSIBLE_MOST) {
        *into = (int)value;
    }
}

static bool sm_of(const struct store_device *limits, struct occupancy_sm *sm)
{
    if (limits->compute_capability > 10000 ||
        !occupancy_sm_of_capability((int)limits->compute_capability, sm)) {
        return false;
    }
    take_known(&sm->threads, limits, 2, limits->max_threads_per_sm);
    take_known(&sm->threads_per_block, limits, 3, limits->max_threads_per_block);
    take_known(&sm->blocks, limits, 4, limits->max_blocks_per_sm);
    take_known(&sm->registers, limits, 5, limits->registers_per_sm);
    take_known(&sm->registers_per_block, limits, 6, limits->registers_per_block);
    take_known(&sm->shared_bytes, limits, 7, limits->shared_per_sm_bytes);
    take_known(&sm->shared_per_block_bytes, limits, 8, limits->shared_per_block_bytes);
    take_known(&sm->shared_per_block_optin_bytes, limits, 9, limits->shared_per_block_optin_bytes);
    take_known(&sm->shared_reserved_bytes, limits, 10, limits->reserved_shared_per_block_bytes);
    return true;
}

static uint32_t sms_of(const struct merged_configuration *configuration, const struct merged_device *device,
                       bool own)
{
    if (own && (configuration->valid & STORE_CONFIGURATION_CONTEXT_SMS) && configuration->context_sms > 0) {
        return configuration->context_sms;
    }
    return device->limits.valid & 1u ? device->limits.sms : 0;
}

/* The largest real grid has a little under 2⁶³ blocks. */
static uint64_t product(const uint32_t dimensions[3])
{
    uint64_t area = (uint64_t)dimensions[0] * dimensions[1], volume;
    bool overflows = __builtin_mul_overflow(area, dimensions[2], &volume);
    return overflows || volume > INT64_MAX ? INT64_MAX : volume;
}

/* --- occupancy ----------------------------------------------------------------------------------------- */

bool judge_inputs(const struct merged_kernel *kernel, const struct merged_configuration *configuration,
                  const struct merged_device *device, uint32_t barriers, struct occupancy_sm *sm,
                  struct occupancy_launch *launch)
{
    uint64_t threads = product(configuration->block);
    bool carveout_known =
        (configuration->valid & STORE_CONFIGURATION_ATTRIBUTES) && configuration->carveout_percent >= 0;
    if (!(kernel->valid & STORE_KERNEL_ATTRIBUTES) || threads > INT_MAX ||
        kernel->registers_per_thread > INT_MAX || kernel->static_shared_bytes > INT_MAX ||
        configuration->dynamic_shared_bytes > INT_MAX) {
        return false;
    }
    *launch = (struct occupancy_launch){
        .threads = (int)threads,
        .registers_per_thread = (int)kernel->registers_per_thread,
        .static_shared_bytes = (int)kernel->static_shared_bytes,
        .dynamic_shared_bytes = (int)configuration->dynamic_shared_bytes,
        .barriers = barriers == MERGED_NONE ? 0 : (int)barriers,
        .carveout_percent = carveout_known ? configuration->carveout_percent : -1,
        .max_dynamic_shared_bytes = -1, /* it ran, so it was allowed what it asked for */
    };
    return sm_of(&device->limits, sm);
}

int judge_lifts(const struct merged *merged, const struct merged_configuration *configuration,
                struct lift lifts[LIFTS_MAX])
{
    struct occupancy_sm sm;
    struct occupancy_launch launch;
    const struct judgement *judged = &configuration->judged;
    if (!(judged->valid & JUDGED_LIMITS) || judged->theoretical_occupancy >= 1 ||
        (judged->limiters & LIMITER_DRIVER) ||
        !judge_inputs(&merged->kernels[configuration->kernel], configuration,
                      &merged->devices[configuration->device], judged->barriers, &sm, &launch)) {
        return 0;
    }
    return lift_limits(&sm, &launch, lifts);
}

static void judge_limits(struct judgement *judged, const struct occupancy *occupancy)
{
    judged->valid |= JUDGED_LIMITS;
    judged->model_blocks_per_sm = (uint32_t)occupancy->blocks_per_sm;
    judged->limit_threads = (uint32_t)occupancy->limit_threads;
    judged->limit_blocks = (uint32_t)occupancy->limit_blocks;
    judged->limit_registers = (uint32_t)occupancy->limit_registers;
    judged->limit_shared_memory = (uint32_t)occupancy->limit_shared_memory;
    judged->limit_barriers =
        occupancy->limit_barriers == INT_MAX ? UINT32_MAX : (uint32_t)occupancy->limit_barriers;
    judged->limiters = occupancy->limiters;
    judged->limiters_source = SOURCE_MODEL;
}

/* Only the driver knows: no model of this capability, or a kernel without attributes. */
static void judge_by_driver_alone(struct judgement *judged, const struct store_device *limits,
                                  uint32_t blocks_per_sm)
{
    if (!(limits->valid >> 2 & 1) || limits->max_threads_per_sm < 32) {
        return;
    }
    const uint32_t most_warps = limits->max_threads_per_sm / 32;
    double warps = (double)blocks_per_sm * judged->warps_per_block;
    judged->valid |= JUDGED_OCCUPANCY;
    judged->blocks_per_sm = blocks_per_sm;
    judged->theoretical_occupancy = fmin(1, warps / most_warps);
    judged->occupancy_source = SOURCE_DRIVER;
}

/* Only elsewhere: here it ran. */
static void refuse_cluster(struct judgement *judged)
{
    judged->blocks_per_sm = 0;
    judged->theoretical_occupancy = 0;
    judged->limiters = LIMITER_CLUSTER;
}

static void judge_occupancy(struct judgement *judged, const struct merged_kernel *kernel,
                            const struct merged_configuration *configuration,
                            const struct merged_device *device, bool own, uint32_t barriers)
{
    struct occupancy_sm sm;
    struct occupancy_launch launch;
    struct occupancy occupancy;
    /* it ran, so an answer of 0 blocks was given for something else */
    uint32_t driver = own && (configuration->valid & STORE_CONFIGURATION_BLOCKS) &&
                              configuration->driver_blocks_per_sm < DRIVER_MOST_BLOCKS
                          ? configuration->driver_blocks_per_sm
                          : 0;
    if (!judge_inputs(kernel, configuration, device, barriers, &sm, &launch) ||
        occupancy_compute(&sm, &launch, &occupancy) != OCCUPANCY_OK) {
        if (driver) {
            judge_by_driver_alone(judged, &device->limits, driver);
        }
        return;
    }
    judge_limits(judged, &occupancy);
    if (driver) {
        occupancy_apply_driver(&occupancy, &sm, (int)driver);
        judged->limiters = occupancy.limiters;
    }
    judged->valid |= JUDGED_OCCUPANCY;
    judged->blocks_per_sm = (uint32_t)occupancy.blocks_per_sm;
    judged->theoretical_occupancy = occupancy.theoretical_occupancy;
    judged->occupancy_source = driver ? SOURCE_DRIVER : sm.estimated ? SOURCE_ESTIMATED : SOURCE_MODEL;
    if (!own && product(configuration->cluster) > 1 && sm.compute_capability < CLUSTER_CAPABILITY) {
        refuse_cluster(judged);
    }
}

/* --- waves --------------------------------------------------------------------------------------------- */

/* Clusters resident at once. Without the driver's answer the model's for SMs spread evenly over the device.
 */
static unsigned active_clusters(struct judgement *judged, const struct merged_configuration *configuration,
                                const struct merged_device *device, bool own, unsigned cluster_blocks)
{
    if (own && (configuration->valid & STORE_CONFIGURATION_CLUSTERS) &&
        configuration->driver_max_active_clusters > 0) {
        judged->waves_source = SOURCE_DRIVER;
        return configuration->driver_max_active_clusters;
    }
    const struct device *known = device->listed ? device->listed : device_find(device->limits.name);
    bool whole = known && known->sms == (int)judged->sms;
    struct cluster_device shape = {.sms = (int)judged->sms,
                                   .gpcs = whole ? known->gpcs : 0,
                                   .sms_per_gpc = whole ? known->sms_per_gpc : 0};
    judged->waves_source = SOURCE_ESTIMATED;
    int even = clusters_active(&shape, (int)cluster_blocks, (int)judged->blocks_per_sm).even;
    return even > 0 ? (unsigned)even : 0;
}

static struct waves waves_of(struct judgement *judged, const struct merged_configuration *configuration,
                             const struct merged_device *device, bool own)
{
    uint64_t cluster_blocks = product(configuration->cluster);
    judged->waves_source = judged->occupancy_source;
    if (cluster_blocks <= 1 || cluster_blocks > CLUSTER_MOST_BLOCKS) {
        return waves_compute(judged->blocks, judged->sms, judged->blocks_per_sm);
    }
    unsigned clusters = active_clusters(judged, configuration, device, own, (unsigned)cluster_blocks);
    if (clusters * cluster_blocks < (uint64_t)judged->sms * judged->blocks_per_sm) {
        judged->limiters |= LIMITER_CLUSTER;
    }
    return waves_of_clusters(judged->blocks, (unsigned)cluster_blocks, clusters, judged->sms);
}

static void judge_waves(struct judgement *judged, const struct merged_configuration *configuration,
                        const struct merged_device *device, bool own)
{
    if (!(judged->valid & JUDGED_OCCUPANCY) || judged->sms == 0 || judged->sms > PLAUSIBLE_MOST ||
        judged->blocks == 0) {
        return;
    }
    struct waves waves = waves_of(judged, configuration, device, own);
    judged->valid |= JUDGED_SLOTS;
    judged->slots = waves.slots;
    if (waves.slots == 0) {
        return;
    }
    judged->valid |= JUDGED_WAVES;
    judged->waves = waves.waves;
    judged->full_waves = waves.full_waves;
    judged->tail_fullness = waves.tail_fullness;
    judged->tail_waste = waves.tail_waste;
    judged->idle_sms = waves.idle_sms;
}

struct judgement judge_configuration(const struct merged_kernel *kernel,
                                     const struct merged_configuration *configuration,
                                     const struct merged_device *device, bool own, uint32_t barriers)
{
    uint64_t threads =
        product(configuration->block) < PLAUSIBLE_MOST ? product(configuration->block) : PLAUSIBLE_MOST;
    struct judgement judged = {
        .blocks = product(configuration->grid),
        .warps_per_block = (uint32_t)(threads + 31) / 32,
        .idle_lanes_per_block = waves_idle_lanes_per_block((unsigned)threads),
        .sms = sms_of(configuration, device, own),
        .barriers = barriers,
    };
    judge_occupancy(&judged, kernel, configuration, device, own, barriers);
    judge_waves(&judged, configuration, device, own);
    return judged;
}

const struct merged_device *judge_listed_device(struct merged *merged, const struct device *listed)
{
    struct occupancy_sm sm;
    struct merged_device *device = merged_allocate(merged, sizeof *device);
    if (!device || !occupancy_sm_of_capability(listed->compute_capability, &sm)) {
        return NULL;
    }
    *device = (struct merged_device){.host = "", .listed = listed};
    device->limits.compute_capability = (uint32_t)listed->compute_capability;
    device->limits.sms = (uint32_t)listed->sms;
    device->limits.max_threads_per_sm = (uint32_t)sm.threads;
    device->limits.valid = 1u << 0 | 1u << 2;
    snprintf(device->limits.name, sizeof device->limits.name, "%s", listed->product);
    return device;
}
