/* Configurations that differ in nothing but which of several equal devices they ran on, taken as one: ranks
 * of a job launch the same on each of their GPUs. */
#ifndef WARPWATCH_FOLD_H
#define WARPWATCH_FOLD_H

#include "merged.h"

struct folded {
    uint32_t configuration; /* the first of them, which stands for all */
    uint32_t devices;       /* how many they ran on */
    uint64_t launches;
    double elsewhere_loss;
};

/* All configurations of the kernel, in their order. The caller frees; NULL: out of memory. */
struct folded *fold_configurations(const struct merged *merged, const struct merged_kernel *kernel,
                                   uint32_t *count);

/* For each configuration the first that it is equal to but for the device. The caller frees; NULL: out of
 * memory. */
uint32_t *fold_representatives(const struct merged *merged);

#endif
