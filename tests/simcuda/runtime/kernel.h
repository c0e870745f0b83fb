/* The launch configuration of the runtime in the driver's form. */
#ifndef SIMCUDA_RUNTIME_KERNEL_H
#define SIMCUDA_RUNTIME_KERNEL_H

#include "runtime.h"

CUlaunchConfig kernel_launch_configuration(const cudaLaunchConfig_t *config);

#endif
