/* The exported entries of the functions that callbacks tell of. */
#define SIMCUDA_EXPORTED_NAMES
#include "driver.h"

#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include "callbacks.h"

static _Atomic(driver_call_listener *) listener;

void simcuda_set_call_listener(driver_call_listener *told)
{
    atomic_store(&listener, told);
}

#define CALL_UNPACK(...) __VA_ARGS__
#define OBSERVED(name, wrapper, parameters, arguments)                                                       \
    CUresult unobserved_##name parameters;                                                                   \
    __attribute__((visibility("default"))) CUresult name parameters;                                         \
    CUresult name parameters                                                                                 \
    {                                                                                                        \
        driver_call_listener *told = atomic_load_explicit(&listener, memory_order_acquire);                  \
        if (!told) {                                                                                         \
            return unobserved_##name arguments;                                                              \
        }                                                                                                    \
        uint64_t between = 0;                                                                                \
        name##_params packed = {CALL_UNPACK arguments};                                                      \
        struct driver_call call = {                                                                          \
            CUPTI_DRIVER_TRACE_CBID_##name, #name, &packed, false, CUDA_SUCCESS, &between};                  \
        told(&call);                                                                                         \
        call.result = unobserved_##name arguments;                                                           \
        call.ended = true;                                                                                   \
        told(&call);                                                                                         \
        return call.result;                                                                                  \
    }
#define LAUNCH_HOOK  OBSERVED
#define LEGACY_HOOK  OBSERVED
#define MODULE_HOOK  OBSERVED
#define CONTEXT_HOOK OBSERVED
#define CAPTURE_HOOK OBSERVED
#define GRAPH_HOOK   OBSERVED
#include "shim/driver_api.def"
