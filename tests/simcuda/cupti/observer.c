/* Finds the simulated driver's two seams. The library must be mapped already: we never load a driver. */
#include "observer.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_ulong launches;
static _Atomic(launch_observer *) listener;

static void observe(const struct observed_launch *launch)
{
    launch_observer *launched = atomic_load(&listener);
    atomic_fetch_add(&launches, 1);
    if (launched) {
        launched(launch);
    }
}

static void *seam(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return dlsym(driver ? driver : dlopen(NULL, RTLD_NOW), name); /* a test may stand in for the driver */
}

static void attach(void)
{
    static atomic_flag attached = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&attached)) {
        return;
    }
    void (*set)(launch_observer *) = (void (*)(launch_observer *))seam("simcuda_set_launch_observer");
    if (set) {
        set(observe);
    }
}

uint64_t observer_launches(void)
{
    attach();
    return atomic_load(&launches);
}

void observer_set(launch_observer *launched)
{
    attach();
    atomic_store(&listener, launched);
}

/* The activity side and the callback side may both listen. */
static _Atomic(driver_call_listener *) listeners[2];

static void tell_calls(const struct driver_call *call)
{
    for (int i = 0; i < 2; i++) {
        driver_call_listener *told = atomic_load(&listeners[i]);
        if (told) {
            told(call);
        }
    }
}

void observer_set_calls(enum observer_side side, driver_call_listener *told)
{
    void (*set)(driver_call_listener *) = (void (*)(driver_call_listener *))seam("simcuda_set_call_listener");
    atomic_store(&listeners[side], told);
    if (set) {
        set(atomic_load(&listeners[0]) || atomic_load(&listeners[1]) ? tell_calls : NULL);
    }
}
