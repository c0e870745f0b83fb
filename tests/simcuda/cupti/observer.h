/* What the simulated driver tells us: each kernel that it has accepted to run, and calls of its functions. */
#ifndef SIMCUPTI_OBSERVER_H
#define SIMCUPTI_OBSERVER_H

#include <stdint.h>

#include "tests/simcuda/callbacks.h"
#include "tests/simcuda/observer.h"

/* Launches accepted since the first call, replays expanded. 0 where libcuda is not the simulated one. */
uint64_t observer_launches(void);

/* Called on the launching thread after each accepted launch; NULL stops it. */
void observer_set(launch_observer *launched);

/* Told of calls of the driver's functions; NULL stops it. */
enum observer_side { OBSERVER_ACTIVITY, OBSERVER_CALLBACKS };
void observer_set_calls(enum observer_side side, driver_call_listener *told);

#endif
