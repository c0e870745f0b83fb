/* Finds the simulated driver's two seams. The library must be mapped already: we never load a driver. */
#include "observer.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_ulong launches;
static _Atomic(void (*)(const char *)) listener;

static void observe(const char *kernel)
{
    void (*launched)(const char *) = atomic_load(&listener);
    atomic_fetch_add(&launches, 1);
    if (launched) {
        launched(kernel);
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
    void (*set)(void (*)(const char *)) =
        (void (*)(void (*)(const char *)))seam("simcuda_set_launch_observer");
    if (set) {
        set(observe);
    }
}

uint64_t observer_launches(void)
{
    attach();
    return atomic_load(&launches);
}

void observer_set(void (*launched)(const char *kernel))
{
    attach();
    atomic_store(&listener, launched);
}

void observer_set_calls(driver_call_listener *told)
{
    void (*set)(driver_call_listener *) = (void (*)(driver_call_listener *))seam("simcuda_set_call_listener");
    if (set) {
        set(told);
    }
}
