/* The functions that callbacks tell of: those that the shim hooks. Everywhere else in the driver they go by
 * another symbol, so that the exported one is the entry in callbacks.c. The shim's table is used for its
 * prototypes alone, which the compiler compares with cuda.h. */
#ifndef SIMCUDA_OBSERVED_H
#define SIMCUDA_OBSERVED_H

/* Launches of before CUDA 4 stand in no header. */
#define OBSERVED(name, wrapper, parameters, arguments) CUresult name parameters __asm__("unobserved_" #name);
#define LAUNCH_HOOK                                    OBSERVED
#define LEGACY_HOOK                                    OBSERVED
#define MODULE_HOOK                                    OBSERVED
#define CONTEXT_HOOK                                   OBSERVED
#define CAPTURE_HOOK                                   OBSERVED
#define GRAPH_HOOK                                     OBSERVED
#include "shim/driver_api.def"
#undef OBSERVED

#endif
