/* What one would write with LTTng-ust: a preloaded cuLaunchKernel with a tracepoint behind the real call.
 * With LTTNG_BENCH_TIMED in the environment it has the start of the call as well; the end is the event's own
 * time. */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "tests/bench/lttng/provider.h"

static __typeof__(&cuLaunchKernel) next;
static bool timed;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((constructor)) static void find_next(void)
{
    next = (__typeof__(&cuLaunchKernel))dlsym(RTLD_NEXT, "cuLaunchKernel");
    timed = getenv("LTTNG_BENCH_TIMED") != NULL;
}

__attribute__((visibility("default"))) CUresult cuLaunchKernel(CUfunction function, unsigned grid_x,
                                                               unsigned grid_y, unsigned grid_z,
                                                               unsigned block_x, unsigned block_y,
                                                               unsigned block_z, unsigned shared_bytes,
                                                               CUstream stream, void **values, void **extra)
{
    uint64_t start_ns = timed ? now_ns() : 0;
    CUresult result = next(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                           values, extra);
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    if (timed) {
        lttng_ust_tracepoint(warpwatch_bench, timed_launch, function, grid, block, shared_bytes, stream,
                             (int)result, start_ns);
    } else {
        lttng_ust_tracepoint(warpwatch_bench, launch, function, grid, block, shared_bytes, stream,
                             (int)result);
    }
    return result;
}
