/* Merging stores into one set of data: private to store/. */
#ifndef WARPWATCH_MERGE_H
#define WARPWATCH_MERGE_H

#include "arena.h"
#include "liveness.h"
#include "merged.h"
#include "read.h"
#include "table.h"

struct merge {
    struct arena arena;
    struct liveness liveness;
    struct table devices, kernels, configurations;
    uint32_t processes_capacity, devices_capacity, kernels_capacity, configurations_capacity, shares_capacity;
    uint32_t last_share_capacity, odd_ranks_capacity;
    uint32_t *last_share; /* by configuration: its latest share, or MERGED_NONE */
};

/* Makes room for one more record; false: out of memory. */
bool merge_reserve(void **array, uint32_t *capacity, uint32_t count, size_t record_bytes);

/* Saturating: hostile counters must not wrap into plausible ones. */
static inline uint64_t merge_sum(uint64_t left, uint64_t right)
{
    uint64_t sum;
    return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}
static inline uint64_t merge_product(uint64_t left, uint64_t right)
{
    uint64_t product;
    return __builtin_mul_overflow(left, right, &product) ? UINT64_MAX : product;
}

/* Indices of the merged record for what one store describes; MERGED_NONE: out of memory. */
uint32_t merge_device(struct merged *merged, const struct store_device *device, const char *host);
uint32_t merge_kernel(struct merged *merged, const struct store_kernel *kernel, const char *name,
                      const char *image, uint32_t process);
uint32_t merge_configuration(struct merged *merged, const struct store_configuration *configuration,
                             uint32_t kernel, uint32_t device);
void merge_measurement(struct store_measurement *into, const struct store_measurement *from);

/* What one process adds to one configuration. False: out of memory. */
bool merge_share(struct merged *merged, const struct merged_share *share);

#endif
