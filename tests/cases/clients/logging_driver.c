/* A libcuda.so.1 that prints what it is asked for and can do nothing: how a runtime looks for its driver. */
#include "client.h"

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status);

static CUresult refuse(void)
{
    return CUDA_ERROR_NO_DEVICE;
}

static CUresult driver_version(int *version)
{
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

static CUresult answer(const char *name, void **function, int version, cuuint64_t flags)
{
    printf("look-up \"%s\" %d %llu\n", name, version, (unsigned long long)flags);
    fflush(stdout); /* a whole line at once: the program may write to the same file by other means */
    *function = (void *)refuse;
    if (*name == '\0') {
        *function = NULL;
    } else if (strcmp(name, "cuDriverGetVersion") == 0) {
        *function = (void *)driver_version;
    } else if (strcmp(name, "cuGetProcAddress") == 0 && version >= 12000) {
        *function = (void *)cuGetProcAddress_v2;
    }
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    if (status) {
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
    }
    return answer(name, function, version, flags);
}
