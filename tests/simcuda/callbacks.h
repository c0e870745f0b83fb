/* Seams. The stub libcupti hears of calls of the driver's functions, before and after each: of those that a
 * client enters, not of what the driver does inside of them. A test hears of questions about functions. */
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

/* Told of each question about a function's attributes or occupancy, before it is answered. No lock is held.
 */
typedef void driver_query_listener(void);
__attribute__((visibility("default"))) void simcuda_set_query_listener(driver_query_listener *listener);

#endif
