/* Device variables, named by the host variable that stands for them: address, size, copies. */
#include "copy.h"
#include "registry.h"

cudaError_t copy_symbol_address(const struct driver_api *driver, const void *symbol, size_t bytes,
                                size_t offset, void **address)
{
    CUdeviceptr start;
    size_t size;
    cudaError_t error = registry_variable(driver, symbol, &start, &size);
    if (error != cudaSuccess) {
        return error;
    }
    *address = (void *)(start + offset);
    return offset > size || bytes > size - offset ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t symbol_address(const struct driver_api *driver, void **out, const void *symbol)
{
    return out == NULL ? cudaErrorInvalidValue : copy_symbol_address(driver, symbol, 0, 0, out);
}
RUNTIME_CALL(cudaGetSymbolAddress, (void **devPtr, const void *symbol),
             symbol_address(driver, devPtr, symbol))

static cudaError_t symbol_size(const struct driver_api *driver, size_t *out, const void *symbol)
{
    CUdeviceptr address;
    return out == NULL ? cudaErrorInvalidValue : registry_variable(driver, symbol, &address, out);
}
RUNTIME_CALL(cudaGetSymbolSize, (size_t * size, const void *symbol), symbol_size(driver, size, symbol))

static cudaError_t copy_to_symbol(const struct driver_api *driver, const void *symbol, const void *from,
                                  size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t error = copy_symbol_address(driver, symbol, bytes, offset, &to);
    return error == cudaSuccess ? copy_linear(driver, to, from, bytes, kind) : error;
}
RUNTIME_CALL_PTDS(cudaMemcpyToSymbol,
                  (const void *symbol, const void *src, size_t count, size_t offset,
                   enum cudaMemcpyKind kind),
                  copy_to_symbol(driver, symbol, src, count, offset, kind))

static cudaError_t copy_from_symbol(const struct driver_api *driver, void *to, const void *symbol,
                                    size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t error = copy_symbol_address(driver, symbol, bytes, offset, &from);
    return error == cudaSuccess ? copy_linear(driver, to, from, bytes, kind) : error;
}
RUNTIME_CALL_PTDS(cudaMemcpyFromSymbol,
                  (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind),
                  copy_from_symbol(driver, dst, symbol, count, offset, kind))

static cudaError_t copy_to_symbol_async(const struct driver_api *driver, const void *symbol, const void *from,
                                        size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                                        cudaStream_t stream)
{
    void *to;
    cudaError_t error = copy_symbol_address(driver, symbol, bytes, offset, &to);
    return error == cudaSuccess ? copy_linear_async(driver, to, from, bytes, kind, stream) : error;
}
RUNTIME_CALL_PTSZ(cudaMemcpyToSymbolAsync,
                  (const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind,
                   cudaStream_t stream),
                  copy_to_symbol_async(driver, symbol, src, count, offset, kind, stream))

static cudaError_t copy_from_symbol_async(const struct driver_api *driver, void *to, const void *symbol,
                                          size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    void *from;
    cudaError_t error = copy_symbol_address(driver, symbol, bytes, offset, &from);
    return error == cudaSuccess ? copy_linear_async(driver, to, from, bytes, kind, stream) : error;
}
RUNTIME_CALL_PTSZ(cudaMemcpyFromSymbolAsync,
                  (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                   cudaStream_t stream),
                  copy_from_symbol_async(driver, dst, symbol, count, offset, kind, stream))
