/* A library with its own cuLaunchKernel that goes on to the next one: as part of the program (wrapper_calls)
 * or as a second preloaded library (second_preload_calls), by the name that COUNTER gives. The first call may
 * take its time (FIRST_CALL_MS). */
#include "client.h"

#include <unistd.h>

#ifndef FIRST_CALL_MS
#define FIRST_CALL_MS 0
#endif

extern int COUNTER;
int COUNTER;

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **values, void **extra)
{
    static __typeof__(&cuLaunchKernel) next;
    next = next ? next : (__typeof__(&cuLaunchKernel))dlsym(RTLD_NEXT, "cuLaunchKernel");
    usleep(COUNTER++ ? 0 : FIRST_CALL_MS * 1000);
    return next(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, values,
                extra);
}
