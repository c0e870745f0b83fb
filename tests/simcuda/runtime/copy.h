/* Copies of the runtime in the driver's form. Graph nodes and arrays use them too. */
#ifndef SIMCUDA_RUNTIME_COPY_H
#define SIMCUDA_RUNTIME_COPY_H

#include "runtime.h"

cudaError_t copy_linear(const struct driver_api *driver, void *to, const void *from, size_t bytes,
                        enum cudaMemcpyKind kind);
cudaError_t copy_linear_async(const struct driver_api *driver, void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind, cudaStream_t stream);

/* Fills `out` from the runtime's parameters; arrays give the element size. */
cudaError_t copy_to_driver(const struct driver_api *driver, const struct cudaMemcpy3DParms *in,
                           CUDA_MEMCPY3D *out);
/* The reverse, for what the driver recorded. */
void copy_from_driver(const CUDA_MEMCPY3D *in, struct cudaMemcpy3DParms *out);
/* A copy of `bytes` in one row. */
cudaError_t copy_1d_to_driver(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                              CUDA_MEMCPY3D *out);

/* symbol.c: the place `offset` bytes into a device variable; cudaErrorInvalidValue if `bytes` reach past its
 * end. */
cudaError_t copy_symbol_address(const struct driver_api *driver, const void *symbol, size_t bytes,
                                size_t offset, void **address);

#endif
