/* The stub libcupti's seam for kernels that run. */
#ifndef SIMCUDA_OBSERVER_H
#define SIMCUDA_OBSERVER_H

#include <stdint.h>

struct observed_launch {
    const char *function;
    uint32_t grid[3], block[3], dynamic_shared_bytes;
};

typedef void launch_observer(const struct observed_launch *launch);

/* Exported beside the driver's own functions; NULL stops it. */
__attribute__((visibility("default"))) void simcuda_set_launch_observer(launch_observer *launched);

void observer_tell(const struct observed_launch *launch, uint64_t times);

#endif
