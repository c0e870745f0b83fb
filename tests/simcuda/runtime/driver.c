/* Finds the driver the way NVIDIA's runtime does: dlopen, one dlsym for cuGetProcAddress_v2, then everything
 * else by name and version, per-thread-stream variants by flag. This order is what a preloaded interceptor
 * has to cope with, so it is kept even where a shorter way exists. */
#include "driver.h"

#include <dlfcn.h>
#include <driver_types.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct driver_api driver_tables[2];

struct lookup {
    const char *name;
    size_t slot; /* offset in struct driver_api */
    int version;
    int per_thread_version; /* 0: one flavour only */
};

static const struct lookup lookups[] = {
#define DRIVER_FUNCTION(name, version) {#name, offsetof(struct driver_api, name), version, 0},
#define DRIVER_STREAM_FUNCTION(name, version, per_thread_version)                                            \
    {#name, offsetof(struct driver_api, name), version, per_thread_version},
#include "driver.def"
#undef DRIVER_FUNCTION
#undef DRIVER_STREAM_FUNCTION
};

static CUresult start_result;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;

static CUresult missing_function(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void **table_slot(enum stream_flavour flavour, const struct lookup *lookup)
{
    return (void **)((char *)&driver_tables[flavour] + lookup->slot);
}

static void look_up(PFN_cuGetProcAddress_v12000 ask, enum stream_flavour flavour, const struct lookup *lookup)
{
    bool per_thread = flavour == STREAM_PER_THREAD;
    void *function = NULL;
    CUdriverProcAddressQueryResult status;
    CUresult result = ask(
        lookup->name, &function, per_thread ? lookup->per_thread_version : lookup->version,
        per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT, &status);
    if (result != CUDA_SUCCESS || function == NULL) {
        function = (void *)missing_function;
    }
    *table_slot(flavour, lookup) = function;
}

static void fill_tables(PFN_cuGetProcAddress_v12000 ask)
{
    for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
        look_up(ask, STREAM_LEGACY, &lookups[i]);
        if (lookups[i].per_thread_version != 0) {
            look_up(ask, STREAM_PER_THREAD, &lookups[i]);
        } else {
            *table_slot(STREAM_PER_THREAD, &lookups[i]) = *table_slot(STREAM_LEGACY, &lookups[i]);
        }
    }
    driver_tables[STREAM_LEGACY].get_proc_address = ask;
    driver_tables[STREAM_PER_THREAD].get_proc_address = ask;
}

static CUresult find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        return (CUresult)cudaErrorInsufficientDriver;
    }
    PFN_cuGetProcAddress_v12000 first = (PFN_cuGetProcAddress_v12000)dlsym(library, "cuGetProcAddress_v2");
    if (first == NULL) {
        return (CUresult)cudaErrorInsufficientDriver;
    }
    void *nothing = NULL;
    CUresult result = first("", &nothing, 0, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    PFN_cuGetProcAddress_v11030 old = NULL;
    PFN_cuGetProcAddress_v12000 ask = NULL;
    first("cuGetProcAddress", (void **)&old, 11030, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
    first("cuGetProcAddress", (void **)&ask, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
    fill_tables(ask != NULL ? ask : first);
    return CUDA_SUCCESS;
}

static void start(void)
{
    start_result = find_driver();
    if (start_result == CUDA_SUCCESS) {
        start_result = driver_tables[STREAM_LEGACY].cuInit(0);
    }
}

CUresult driver_start(void)
{
    pthread_once(&start_once, start);
    return start_result;
}
