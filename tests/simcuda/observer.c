/* For the stub libcupti: who wants to hear of each accepted launch, on the launching thread. */
#include "observer.h"

#include <stdatomic.h>

static _Atomic(launch_observer *) observer;

void simcuda_set_launch_observer(launch_observer *launched)
{
    atomic_store(&observer, launched);
}

void observer_tell(const struct observed_launch *launch, uint64_t times)
{
    launch_observer *launched = atomic_load_explicit(&observer, memory_order_acquire);
    for (uint64_t i = 0; launched && i < times; i++) {
        launched(launch);
    }
}
