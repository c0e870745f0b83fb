/* What programs have registered: fat binaries, and by host address their kernels and variables. Device code
 * is loaded into the driver when something of its fat binary is first used. */
#ifndef SIMCUDA_RUNTIME_REGISTRY_H
#define SIMCUDA_RUNTIME_REGISTRY_H

#include "runtime.h"

struct fat_binary;

struct fat_binary *registry_add_binary(const void *image);
void registry_add_function(struct fat_binary *binary, const void *host, const char *name);
/* host_pointer: for a managed variable, where the program keeps its address; else NULL */
void registry_add_variable(struct fat_binary *binary, const void *host, const char *name, size_t bytes,
                           void **host_pointer);
/* Loads it and fills in the addresses of its managed variables. */
cudaError_t registry_load_binary(const struct driver_api *driver, struct fat_binary *binary);
/* Forgets everything of it and unloads its code. */
void registry_remove_binary(struct fat_binary *binary);

/* Kernel handles that the program got from the runtime are accepted wherever a host function is. */
/* host: the host function it belongs to, or NULL */
void registry_add_handle(const void *handle, const void *host, CUkernel kernel, CUlibrary library);
void registry_remove_handles(CUlibrary library);

/* `function` is a host function or a handle; unknown: cudaErrorInvalidDeviceFunction. */
cudaError_t registry_kernel(const struct driver_api *driver, const void *function, CUkernel *kernel);
/* The host function of a kernel, or the kernel itself if it has none: what the program calls it. */
const void *registry_host_function(CUkernel kernel);
/* `symbol` unknown: cudaErrorInvalidSymbol. */
cudaError_t registry_variable(const struct driver_api *driver, const void *symbol, CUdeviceptr *address,
                              size_t *bytes);

#endif
