/* GPU durations of one configuration: exact count, minimum, maximum and total; the median of a fixed-size
 * sample. */
#ifndef WARPWATCH_DURATIONS_H
#define WARPWATCH_DURATIONS_H

#include <stdint.h>

#include "shim/store_format.h"

#define DURATION_SAMPLES 64u

struct durations {
    uint64_t count, min_ns, max_ns, total_ns;
    uint32_t seen[DURATION_SAMPLES]; /* ns, capped at 4.29 s; a uniform sample once there are more */
    uint64_t random;
};

void durations_add(struct durations *durations, uint64_t ns);
/* Copies the figures into the store's record; the valid bit goes up last. */
void durations_publish(const struct durations *durations, struct store_measurement *record, uint32_t source);

#endif
