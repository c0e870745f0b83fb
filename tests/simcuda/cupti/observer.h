/* What the simulated driver tells us: each kernel that it has accepted to run. */
#ifndef SIMCUPTI_OBSERVER_H
#define SIMCUPTI_OBSERVER_H

#include <stdint.h>

/* Launches accepted since the first call, replays expanded. 0 where libcuda is not the simulated one. */
uint64_t observer_launches(void);

/* Called on the launching thread after each accepted launch; NULL stops it. */
void observer_set(void (*launched)(const char *kernel));

#endif
