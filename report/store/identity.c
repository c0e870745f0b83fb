/* What makes two records the same: devices by UUID and limits, kernels by name and resources, configurations
 * by shape and by whatever occupancy depends on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"

bool merge_reserve(void **array, uint32_t *capacity, uint32_t count, size_t record_bytes)
{
    if (count < *capacity) {
        return true;
    }
    uint32_t grown = *capacity ? 2 * *capacity : 64;
    void *moved = grown > *capacity ? realloc(*array, grown * record_bytes) : NULL;
    if (!moved) {
        return false;
    }
    *array = moved;
    *capacity = grown;
    return true;
}

/* --- devices ------------------------------------------------------------------------------------------- */

static bool device_equal(const void *context, uint32_t index, const void *key)
{
    const struct merged_device *known = (const struct merged_device *)context + index;
    const struct merged_device *fresh = key;
    struct store_device left = known->limits, right = fresh->limits;
    if (left.valid & right.valid & STORE_DEVICE_VALID_UUID) { /* else the ordinal is all there is to go by */
        left.ordinal = right.ordinal = 0;
    }
    return memcmp(&left, &right, sizeof left) == 0 && strcmp(known->host, fresh->host) == 0;
}

uint32_t merge_device(struct merged *merged, const struct store_device *device, const char *host)
{
    struct merge *merge = merged->merge;
    struct merged_device fresh = {.host = host, .limits = *device};
    fresh.limits.check = fresh.limits.reserved = 0;
    fresh.limits.name[sizeof fresh.limits.name - 1] = '\0';
    fresh.simulated = strstr(fresh.limits.name, "(simulated)") != NULL;
    if (!merge_reserve((void **)&merged->devices, &merge->devices_capacity, merged->devices_count,
                       sizeof fresh)) {
        return MERGED_NONE;
    }
    uint64_t hash = table_hash(&merge->devices, device->uuid, sizeof device->uuid);
    uint32_t index =
        table_intern(&merge->devices, hash, merged->devices_count, device_equal, merged->devices, &fresh);
    if (index == merged->devices_count) {
        merged->devices[merged->devices_count++] = fresh;
    } else if (index != MERGED_NONE && merged->devices[index].limits.ordinal != device->ordinal) {
        merged->devices[index].ordinal_differs = true;
    }
    return index;
}

/* --- kernels ------------------------------------------------------------------------------------------- */

struct kernel_key {
    uint32_t kind, registers_per_thread, static_shared_bytes, local_bytes, max_threads_per_block;
    uint32_t process; /* of a kernel without a name, which is its process's own */
};

struct kernel_match {
    const char *name;
    struct kernel_key key;
};

static struct kernel_key kernel_key_of(const struct merged_kernel *kernel, uint32_t process)
{
    const uint32_t kinds =
        STORE_KERNEL_ATTRIBUTES | STORE_KERNEL_UNNAMED | STORE_KERNEL_FILTERED | STORE_KERNEL_REST;
    struct kernel_key key = {.kind = kernel->valid & kinds,
                             .process = kernel->valid & STORE_KERNEL_UNNAMED ? process : MERGED_NONE};
    if (kernel->valid & STORE_KERNEL_ATTRIBUTES) {
        key.registers_per_thread = kernel->registers_per_thread;
        key.static_shared_bytes = kernel->static_shared_bytes;
        key.local_bytes = kernel->local_bytes;
        key.max_threads_per_block = kernel->max_threads_per_block;
    }
    return key;
}

static bool kernel_equal(const void *context, uint32_t index, const void *key)
{
    const struct merged_kernel *known = (const struct merged_kernel *)context + index;
    const struct kernel_match *match = key;
    struct kernel_key known_key = kernel_key_of(known, known->unnamed_process);
    return memcmp(&known_key, &match->key, sizeof known_key) == 0 && strcmp(known->mangled, match->name) == 0;
}

uint32_t merge_kernel(struct merged *merged, const struct store_kernel *kernel, const char *name,
                      const char *image, uint32_t process)
{
    struct merge *merge = merged->merge;
    struct merged_kernel fresh = {
        .registers_per_thread = kernel->registers_per_thread,
        .static_shared_bytes = kernel->static_shared_bytes,
        .local_bytes = kernel->local_bytes,
        .max_threads_per_block = kernel->max_threads_per_block,
        .constant_bytes = kernel->constant_bytes,
        .binary_version = kernel->binary_version,
        .ptx_version = kernel->ptx_version,
        .valid = kernel->valid,
        .barriers = MERGED_NONE,
        .unnamed_process = process,
    };
    memcpy(fresh.required_cluster, kernel->required_cluster, sizeof fresh.required_cluster);
    if (!merge_reserve((void **)&merged->kernels, &merge->kernels_capacity, merged->kernels_count,
                       sizeof fresh)) {
        return MERGED_NONE;
    }
    struct kernel_match match = {name, kernel_key_of(&fresh, process)};
    uint64_t hash = table_hash(&merge->kernels, name, strlen(name)) ^
                    table_hash(&merge->kernels, &match.key, sizeof match.key);
    uint32_t index =
        table_intern(&merge->kernels, hash, merged->kernels_count, kernel_equal, merged->kernels, &match);
    if (index == merged->kernels_count) {
        fresh.mangled = arena_copy(&merge->arena, name, strlen(name));
        if (!fresh.mangled) {
            return MERGED_NONE;
        }
        merged->kernels[merged->kernels_count++] = fresh;
    }
    if (index != MERGED_NONE && image && !merged->kernels[index].image) {
        merged->kernels[index].image = arena_copy(&merge->arena, image, strlen(image));
    }
    return index;
}

/* --- configurations ------------------------------------------------------------------------------------ */

struct configuration_key {
    uint32_t kernel, device, grid[3], block[3], cluster[3], dynamic_shared_bytes, cooperative, known;
    int32_t carveout_percent;
    uint32_t context_sms, driver_blocks_per_sm, driver_max_active_clusters;
};

static struct configuration_key configuration_key_of(const struct merged_configuration *configuration)
{
    uint32_t valid = configuration->valid;
    struct configuration_key key = {
        .kernel = configuration->kernel,
        .device = configuration->device,
        .dynamic_shared_bytes = configuration->dynamic_shared_bytes,
        .cooperative = configuration->flags & STORE_LAUNCH_COOPERATIVE,
        .known = valid,
        .carveout_percent = valid & STORE_CONFIGURATION_ATTRIBUTES ? configuration->carveout_percent : 0,
        .context_sms = valid & STORE_CONFIGURATION_CONTEXT_SMS ? configuration->context_sms : 0,
        .driver_blocks_per_sm = valid & STORE_CONFIGURATION_BLOCKS ? configuration->driver_blocks_per_sm : 0,
        .driver_max_active_clusters =
            valid & STORE_CONFIGURATION_CLUSTERS ? configuration->driver_max_active_clusters : 0,
    };
    memcpy(key.grid, configuration->grid, sizeof key.grid);
    memcpy(key.block, configuration->block, sizeof key.block);
    memcpy(key.cluster, configuration->cluster, sizeof key.cluster);
    return key;
}

static bool configuration_equal(const void *context, uint32_t index, const void *key)
{
    const struct merged_configuration *known = (const struct merged_configuration *)context + index;
    struct configuration_key left = configuration_key_of(known);
    return memcmp(&left, key, sizeof left) == 0;
}

static bool last_share_reserve(struct merge *merge, uint32_t count)
{
    return merge_reserve((void **)&merge->last_share, &merge->last_share_capacity, count, sizeof(uint32_t));
}

uint32_t merge_configuration(struct merged *merged, const struct store_configuration *configuration,
                             uint32_t kernel, uint32_t device)
{
    struct merge *merge = merged->merge;
    struct merged_configuration fresh = {
        .kernel = kernel,
        .device = device,
        .dynamic_shared_bytes = configuration->dynamic_shared_bytes,
        .flags = configuration->flags,
        .valid = configuration->valid,
        .max_dynamic_shared_bytes = configuration->max_dynamic_shared_bytes,
        .carveout_percent = configuration->carveout_percent,
        .context_sms = configuration->context_sms,
        .driver_blocks_per_sm = configuration->driver_blocks_per_sm,
        .driver_max_active_clusters = configuration->driver_max_active_clusters,
        .successor = MERGED_NONE,
    };
    for (int axis = 0; axis < 3; axis++) {
        fresh.grid[axis] = configuration->grid[axis];
        fresh.block[axis] = configuration->block[axis];
        fresh.cluster[axis] = configuration->cluster[axis] ? configuration->cluster[axis] : 1;
    }
    uint32_t count = merged->configurations_count;
    if (!merge_reserve((void **)&merged->configurations, &merge->configurations_capacity, count,
                       sizeof fresh) ||
        !last_share_reserve(merge, count)) {
        return MERGED_NONE;
    }
    struct configuration_key key = configuration_key_of(&fresh);
    uint64_t hash = table_hash(&merge->configurations, &key, sizeof key);
    uint32_t index =
        table_intern(&merge->configurations, hash, count, configuration_equal, merged->configurations, &key);
    if (index == count) {
        merge->last_share[count] = MERGED_NONE;
        merged->configurations[merged->configurations_count++] = fresh;
    } else if (index != MERGED_NONE) {
        merged->configurations[index].flags |= fresh.flags;
    }
    return index;
}

/* A damaged store may hold times whose mean rounds up to 2^64. */
static uint64_t mean_time(uint64_t left, uint64_t right, double share_of_right)
{
    double mean = (1 - share_of_right) * (double)left + share_of_right * (double)right;
    return mean < 0x1p64 ? (uint64_t)mean : UINT64_MAX;
}

/* Times add up; the median of several processes is the launch-weighted mean of theirs, as docs/report.md
 * says. */
static void merge_times(struct store_measurement *into, const struct store_measurement *from)
{
    uint64_t count = merge_sum(into->gpu_ns_count, from->gpu_ns_count);
    if (!(into->valid & STORE_MEASURED_GPU_TIME) || into->gpu_ns_count == 0) {
        into->gpu_ns_min = from->gpu_ns_min;
        into->gpu_ns_max = from->gpu_ns_max;
        into->gpu_ns_median = from->gpu_ns_median;
    } else if (count > 0) {
        double share = (double)from->gpu_ns_count / (double)count;
        into->gpu_ns_min = from->gpu_ns_min < into->gpu_ns_min ? from->gpu_ns_min : into->gpu_ns_min;
        into->gpu_ns_max = from->gpu_ns_max > into->gpu_ns_max ? from->gpu_ns_max : into->gpu_ns_max;
        into->gpu_ns_median = mean_time(into->gpu_ns_median, from->gpu_ns_median, share);
    }
    into->gpu_ns_count = count;
    into->gpu_ns_total = merge_sum(into->gpu_ns_total, from->gpu_ns_total);
}

static double weighted(double left, uint64_t left_weight, double right, uint64_t right_weight)
{
    double weight = (double)left_weight + (double)right_weight;
    return weight > 0 ? left * ((double)left_weight / weight) + right * ((double)right_weight / weight)
                      : right;
}

void merge_measurement(struct store_measurement *into, const struct store_measurement *from)
{
    const struct {
        uint64_t bit;
        double *into;
        double from;
        uint64_t into_weight, from_weight;
    } ratios[] = {
        {STORE_MEASURED_OCCUPANCY, &into->achieved_occupancy, from->achieved_occupancy, into->samples_a,
         from->samples_a},
        {STORE_MEASURED_LANES, &into->lane_utilization, from->lane_utilization, into->samples_a,
         from->samples_a},
        {STORE_MEASURED_BRANCHES, &into->branch_efficiency, from->branch_efficiency, into->samples_a,
         from->samples_a},
        {STORE_MEASURED_SECTORS, &into->sectors_per_request, from->sectors_per_request, into->samples_b,
         from->samples_b},
        {STORE_MEASURED_BANKS, &into->bank_conflicts_per_request, from->bank_conflicts_per_request,
         into->samples_a, from->samples_a},
    };
    if (from->valid & STORE_MEASURED_GPU_TIME) {
        merge_times(into, from);
    }
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        if (from->valid & ratios[i].bit) {
            bool first = !(into->valid & ratios[i].bit);
            *ratios[i].into = weighted(*ratios[i].into, first ? 0 : ratios[i].into_weight, ratios[i].from,
                                       ratios[i].from_weight);
        }
    }
    into->samples_a = merge_sum(into->samples_a, from->samples_a);
    into->samples_b = merge_sum(into->samples_b, from->samples_b);
    into->samples_timing = merge_sum(into->samples_timing, from->samples_timing);
    into->source |= from->source;
    into->valid |= from->valid;
}

bool merge_share(struct merged *merged, const struct merged_share *share)
{
    struct merge *merge = merged->merge;
    uint32_t *last = &merge->last_share[share->configuration];
    if (*last != MERGED_NONE && merged->shares[*last].process == share->process) {
        struct merged_share *known = &merged->shares[*last];
        known->launches = merge_sum(known->launches, share->launches);
        known->graph_launches = merge_sum(known->graph_launches, share->graph_launches);
        known->runtime_launches = merge_sum(known->runtime_launches, share->runtime_launches);
        known->launch_call_ns = merge_sum(known->launch_call_ns, share->launch_call_ns);
        return true;
    }
    if (!merge_reserve((void **)&merged->shares, &merge->shares_capacity, merged->shares_count,
                       sizeof *share)) {
        return false;
    }
    *last = merged->shares_count;
    merged->shares[merged->shares_count++] = *share;
    return true;
}
