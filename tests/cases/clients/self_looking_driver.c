/* A libcuda.so.1 that looks its own functions up by name, as the real one does, and says when it gets someone
 * else's. */
#include "client.h"

CUresult cuInit(unsigned flags)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    static int depth;
    if (depth++ > 0 || flags) {
        return CUDA_ERROR_UNKNOWN;
    }
    void *itself = dlsym(library, "cuInit"), *launch = dlsym(library, "cuLaunchKernel");
    void *versioned = dlvsym(RTLD_DEFAULT, "malloc", "GLIBC_2.2.5");
    printf("cuInit in %s, cuLaunchKernel in %s, malloc in %s\n", library_of(itself), library_of(launch),
           library_of(versioned));
    CUresult result =
        ((__typeof__(&cuInit))itself)(0) == CUDA_ERROR_UNKNOWN ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
    depth--;
    return result;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **values, void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
    (void)shared_bytes, (void)stream, (void)values, (void)extra;
    return CUDA_ERROR_NOT_INITIALIZED;
}
