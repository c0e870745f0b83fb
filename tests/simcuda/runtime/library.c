/* Libraries loaded by the program, and the driver's entry points handed out by the runtime. */
#include "registry.h"

#include <stdlib.h>
#include <string.h>

/* --- libraries ------------------------------------------------------------------------------------------ */

/* Options and JIT options have the driver's numbers. */
RUNTIME_CALL(cudaLibraryLoadData,
             (cudaLibrary_t * library, const void *code, enum cudaJitOption *jitOptions,
              void **jitOptionsValues, unsigned numJitOptions, enum cudaLibraryOption *libraryOptions,
              void **libraryOptionValues, unsigned numLibraryOptions),
             driver->cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)jitOptions,
                                       jitOptionsValues, numJitOptions, (CUlibraryOption *)libraryOptions,
                                       libraryOptionValues, numLibraryOptions))
RUNTIME_CALL(cudaLibraryLoadFromFile,
             (cudaLibrary_t * library, const char *fileName, enum cudaJitOption *jitOptions,
              void **jitOptionsValues, unsigned numJitOptions, enum cudaLibraryOption *libraryOptions,
              void **libraryOptionValues, unsigned numLibraryOptions),
             driver->cuLibraryLoadFromFile((CUlibrary *)library, fileName, (CUjit_option *)jitOptions,
                                           jitOptionsValues, numJitOptions, (CUlibraryOption *)libraryOptions,
                                           libraryOptionValues, numLibraryOptions))

static CUresult unload(const struct driver_api *driver, CUlibrary library)
{
    CUresult result = driver->cuLibraryUnload(library);
    if (result == CUDA_SUCCESS) {
        registry_remove_handles(library);
    }
    return result;
}
RUNTIME_CALL(cudaLibraryUnload, (cudaLibrary_t library), unload(driver, (CUlibrary)library))

static CUresult get_kernel(const struct driver_api *driver, CUkernel *kernel, CUlibrary library,
                           const char *name)
{
    CUresult result = driver->cuLibraryGetKernel(kernel, library, name);
    if (result == CUDA_SUCCESS) {
        registry_add_handle(*kernel, NULL, *kernel, library);
    }
    return result;
}
RUNTIME_CALL(cudaLibraryGetKernel, (cudaKernel_t * pKernel, cudaLibrary_t library, const char *name),
             get_kernel(driver, (CUkernel *)pKernel, (CUlibrary)library, name))

static CUresult enumerate_kernels(const struct driver_api *driver, CUkernel *kernels, unsigned room,
                                  CUlibrary library)
{
    unsigned count = 0;
    CUresult result = driver->cuLibraryGetKernelCount(&count, library);
    if (result == CUDA_SUCCESS) {
        result = driver->cuLibraryEnumerateKernels(kernels, room, library);
    }
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count && i < room; i++) {
        registry_add_handle(kernels[i], NULL, kernels[i], library);
    }
    return result;
}
RUNTIME_CALL(cudaLibraryEnumerateKernels, (cudaKernel_t * kernels, unsigned numKernels, cudaLibrary_t lib),
             enumerate_kernels(driver, (CUkernel *)kernels, numKernels, (CUlibrary)lib))
RUNTIME_CALL(cudaLibraryGetKernelCount, (unsigned *count, cudaLibrary_t lib),
             driver->cuLibraryGetKernelCount(count, (CUlibrary)lib))

RUNTIME_CALL(cudaLibraryGetGlobal, (void **dptr, size_t *bytes, cudaLibrary_t library, const char *name),
             driver->cuLibraryGetGlobal((CUdeviceptr *)dptr, bytes, (CUlibrary)library, name))
RUNTIME_CALL(cudaLibraryGetManaged, (void **dptr, size_t *bytes, cudaLibrary_t library, const char *name),
             driver->cuLibraryGetManaged((CUdeviceptr *)dptr, bytes, (CUlibrary)library, name))
RUNTIME_CALL(cudaLibraryGetUnifiedFunction, (void **fptr, cudaLibrary_t library, const char *symbol),
             driver->cuLibraryGetUnifiedFunction(fptr, (CUlibrary)library, symbol))

/* --- driver entry points -------------------------------------------------------------------------------- */

static cudaError_t entry_point(const struct driver_api *driver, const char *symbol, void **function,
                               unsigned version, unsigned long long flags, bool per_thread,
                               enum cudaDriverEntryPointQueryResult *status_out)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (symbol == NULL || function == NULL) {
        return cudaErrorInvalidValue;
    }
    if (flags == cudaEnableDefault && per_thread) {
        flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    }
    CUresult result = driver->get_proc_address(symbol, function, (int)version, flags, &status);
    if (status_out != NULL) {
        *status_out = (enum cudaDriverEntryPointQueryResult)status;
    }
    return (cudaError_t)result;
}

#define ENTRY_POINT(name, flavour, per_thread)                                                               \
    RUNTIME_EXPORT cudaError_t name(const char *symbol, void **funcPtr, unsigned long long flags,            \
                                    enum cudaDriverEntryPointQueryResult *driverStatus)                      \
        RUNTIME_BODY(runtime_enter_driver, flavour,                                                          \
                     entry_point(driver, symbol, funcPtr, RUNTIME_VERSION, flags, per_thread, driverStatus))

#define ENTRY_POINT_BY_VERSION(name, flavour, per_thread)                                                    \
    RUNTIME_EXPORT cudaError_t name(const char *symbol, void **funcPtr, unsigned cudaVersion,                \
                                    unsigned long long flags,                                                \
                                    enum cudaDriverEntryPointQueryResult *driverStatus)                      \
        RUNTIME_BODY(runtime_enter_driver, flavour,                                                          \
                     entry_point(driver, symbol, funcPtr, cudaVersion, flags, per_thread, driverStatus))

RUNTIME_EXPORT cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **funcPtr,
                                                        unsigned long long flags,
                                                        enum cudaDriverEntryPointQueryResult *driverStatus);
RUNTIME_EXPORT cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char *symbol, void **funcPtr, unsigned cudaVersion, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *driverStatus);
ENTRY_POINT(cudaGetDriverEntryPoint, STREAM_LEGACY, false)
ENTRY_POINT(cudaGetDriverEntryPoint_ptsz, STREAM_PER_THREAD, true)
ENTRY_POINT_BY_VERSION(cudaGetDriverEntryPointByVersion, STREAM_LEGACY, false)
ENTRY_POINT_BY_VERSION(cudaGetDriverEntryPointByVersion_ptsz, STREAM_PER_THREAD, true)
