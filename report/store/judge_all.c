/* Judges all configurations of a run and adds up what that means for kernels. */
#include <math.h>

#include "judge.h"
#include "labels.h"

static bool has_gpu_time(const struct merged_configuration *configuration)
{
    const struct store_measurement *measured = &configuration->measured;
    return (measured->valid & STORE_MEASURED_GPU_TIME) && measured->gpu_ns_count > 0;
}

/* What all launches took of the device, and what of it stood idle for want of blocks. */
static void judge_waste(struct judgement *judged, const struct merged_configuration *configuration)
{
    if (!(judged->valid & JUDGED_WAVES)) {
        return;
    }
    const struct store_measurement *measured = &configuration->measured;
    double launches = (double)configuration->launches;
    double idle = configuration->labels & LABELS_EXCUSED ? 0 : judged->tail_waste;
    judged->taken = judged->sms * ceil(judged->waves) * launches;
    judged->waste = idle * judged->taken;
    if (has_gpu_time(configuration)) {
        double mean_ns = (double)measured->gpu_ns_total / (double)measured->gpu_ns_count;
        judged->taken_ns = judged->sms * mean_ns * launches;
        judged->waste_ns = idle * judged->taken_ns;
    }
}

/* The share of the device's warp slots that have a warp, over the waves that the launch takes. */
static double filled(const struct judgement *judged)
{
    return judged->theoretical_occupancy * (1 - judged->tail_waste);
}

static void judge_elsewhere(const struct merged *merged, const struct merged_kernel *kernel,
                            struct merged_configuration *configuration)
{
    struct judgement *there = &configuration->elsewhere, *here = &configuration->judged;
    *there = judge_configuration(kernel, configuration, merged->elsewhere, false, here->barriers);
    judge_waste(there, configuration);
    if ((there->valid & JUDGED_SLOTS) && there->slots == 0) {
        configuration->elsewhere_loss = INFINITY;
    } else if (there->valid & here->valid & JUDGED_WAVES) {
        configuration->elsewhere_loss = (filled(here) - filled(there)) * (double)configuration->launches;
    }
}

static void judge_own(struct merged *merged, const struct merged_kernel *kernel,
                      struct merged_configuration *configuration)
{
    const struct merged_device *device = &merged->devices[configuration->device];
    struct judgement *judged = &configuration->judged;
    *judged = judge_configuration(kernel, configuration, device, true, kernel->barriers);
    configuration->labels = labels_of(kernel, configuration, device, judged);
    judge_waste(judged, configuration);
    merged->gpu_times_known |= judged->waste_ns > 0;
    merged->totals.taken += judged->taken;
    merged->totals.taken_ns += judged->taken_ns;
    merged->totals.gpu_times_complete &= has_gpu_time(configuration);
}

/* --- kernels ---------------------------------------------------------------------------------------------
 */

struct kernel_sum {
    double occupancy, occupancy_launches, idle, taken;
    uint64_t most_launches;
};

static void kernel_add(struct merged_kernel *kernel, struct kernel_sum *sum,
                       const struct merged_configuration *configuration)
{
    const struct judgement *judged = &configuration->judged;
    double launches = (double)configuration->launches;
    kernel->waste += judged->waste;
    kernel->waste_ns += judged->waste_ns;
    kernel->labels |= configuration->labels;
    if (judged->valid & JUDGED_OCCUPANCY) {
        sum->occupancy += judged->theoretical_occupancy * launches;
        sum->occupancy_launches += launches;
    }
    if (judged->valid & JUDGED_WAVES) {
        kernel->least_waves = kernel->waves_known ? fmin(kernel->least_waves, judged->waves) : judged->waves;
        kernel->most_waves = fmax(kernel->most_waves, judged->waves);
        kernel->waves_known = true;
        sum->idle += judged->tail_waste * judged->taken;
        sum->taken += judged->taken;
    }
    if (configuration->launches >= sum->most_launches) {
        sum->most_launches = configuration->launches;
        kernel->limiters = judged->limiters;
    }
}

static void judge_kernel(struct merged *merged, struct merged_kernel *kernel)
{
    struct kernel_sum sum = {0};
    kernel->waste = kernel->waste_ns = kernel->most_waves = 0;
    kernel->labels = 0;
    kernel->waves_known = false;
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        struct merged_configuration *configuration = &merged->configurations[kernel->first_configuration + i];
        judge_own(merged, kernel, configuration);
        kernel_add(kernel, &sum, configuration);
        if (merged->elsewhere) {
            judge_elsewhere(merged, kernel, configuration);
        }
    }
    kernel->occupancy_known = sum.occupancy_launches > 0;
    kernel->theoretical_occupancy = kernel->occupancy_known ? sum.occupancy / sum.occupancy_launches : 0;
    kernel->idle_share = sum.taken > 0 ? sum.idle / sum.taken : 0;
}

void judge_all(struct merged *merged)
{
    merged->totals.taken = merged->totals.taken_ns = 0;
    merged->totals.gpu_times_complete = merged->configurations_count > 0;
    for (uint32_t i = 0; i < merged->kernels_count; i++) {
        judge_kernel(merged, &merged->kernels[i]);
    }
}
