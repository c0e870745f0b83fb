/* What the simulated driver tells us: each kernel that it has accepted to run, and calls of its functions. */
#ifndef SIMCUPTI_OBSERVER_H
#define SIMCUPTI_OBSERVER_H

#include <stdint.h>

#include "tests/simcuda/callbacks.h"

/* Launches accepted since the first call, replays expanded. 0 where libcuda is not the simulated one. */
uint64_t observer_launches(void);

/* Called on the launching thread after each accepted launch; NULL stops it. */
void observer_set(void (*launched)(const char *kernel));

/* Told of calls of the driver's functions; NULL stops it. */
void observer_set_calls(driver_call_listener *told);

#endif
