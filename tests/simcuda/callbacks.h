/* The seam for the stub libcupti's callbacks: who wants to hear of calls of the driver's functions, before
 * and after each. Heard of are the functions that a client enters, not what the driver does inside of them.
 */
#ifndef SIMCUDA_CALLBACKS_H
#define SIMCUDA_CALLBACKS_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct driver_call {
    uint32_t id; /* CUPTI_DRIVER_TRACE_CBID_… */
    const char *function;
    const void *given; /* …_params of NVIDIA's generated_cuda_meta.h */
    bool ended;
    CUresult result;   /* once it has ended */
    uint64_t *between; /* the listener's own, from begin to end */
};

typedef void driver_call_listener(const struct driver_call *call);

/* Exported beside the driver's own functions; NULL stops it. */
__attribute__((visibility("default"))) void simcuda_set_call_listener(driver_call_listener *listener);

#endif
