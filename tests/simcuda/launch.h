/* A kernel launch as all launch functions, graph nodes and captures see it. */
#ifndef SIMCUDA_LAUNCH_H
#define SIMCUDA_LAUNCH_H

#include "driver.h"

struct launch_request {
    struct CUctx_st *context;   /* where it runs: NULL = the function's */
    struct CUfunc_st *function; /* a CUkernel is resolved to the function of the launch's context */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t cluster[3]; /* attribute, else the kernel's own, else 1, 1, 1: set by launch_check */
    bool cooperative;
    void **parameters; /* kernelParams; valid during the call, so graphs copy what they point to */
    void **extra;
    const CUlaunchAttribute *attributes; /* valid during the call */
    unsigned attribute_count;
};

/* `handle` is a CUfunction, or a CUkernel cast to one. INVALID_HANDLE and a fault for one that is unloaded.
 */
CUresult launch_resolve(CUfunction handle, struct CUctx_st *context, enum call call,
                        struct CUfunc_st **function);

/* Most blocks of a cluster, 0 where the device has no clusters. */
int launch_cluster_limit(const struct CUfunc_st *function);

/* Whether the device would run it. Fills `cluster` and `cooperative` from attributes and kernel first. */
CUresult launch_check(struct launch_request *request);

/* Checks, then counts or records a launch whose function is resolved. */
CUresult launch_submit(struct CUstream_st *stream, struct launch_request *request);

#endif
