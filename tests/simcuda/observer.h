/* The one seam between the simulated driver and the stub libcupti. */
#ifndef SIMCUDA_OBSERVER_H
#define SIMCUDA_OBSERVER_H

#include <stdint.h>

typedef void launch_observer(const char *function);

/* Exported beside the driver's own functions; NULL stops it. */
__attribute__((visibility("default"))) void simcuda_set_launch_observer(launch_observer *launched);

void observer_tell(const char *function, uint64_t times);

#endif
