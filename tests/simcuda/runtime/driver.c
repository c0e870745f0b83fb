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

static void look_up_flavours(PFN_cuGetProcAddress_v12000 ask, const struct lookup *lookup)
{
    look_up(ask, STREAM_LEGACY, lookup);
    if (lookup->per_thread_version != 0) {
        look_up(ask, STREAM_PER_THREAD, lookup);
    } else {
        *table_slot(STREAM_PER_THREAD, lookup) = *table_slot(STREAM_LEGACY, lookup);
    }
}

/* cuInit comes first, then both forms of cuGetProcAddress, of which the newer one finds all others. */
static void fill_tables(PFN_cuGetProcAddress_v12000 first)
{
    PFN_cuGetProcAddress_v11030 old = NULL;
    PFN_cuGetProcAddress_v12000 ask = NULL;
    look_up_flavours(first, &lookups[0]);
    first("cuGetProcAddress", (void **)&old, 11030, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
    first("cuGetProcAddress", (void **)&ask, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
    ask = ask != NULL ? ask : first;
    for (size_t i = 1; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
        look_up_flavours(ask, &lookups[i]);
    }
    driver_tables[STREAM_LEGACY].get_proc_address = ask;
    driver_tables[STREAM_PER_THREAD].get_proc_address = ask;
}

static CUresult find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    PFN_cuGetProcAddress_v12000 first =
        library != NULL ? (PFN_cuGetProcAddress_v12000)dlsym(library, "cuGetProcAddress_v2") : NULL;
    if (first == NULL) {
        return (CUresult)cudaErrorInsufficientDriver;
    }
    void *nothing = NULL;
    CUresult result = first("", &nothing, 0, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
    if (result == CUDA_SUCCESS) {
        fill_tables(first);
    }
    return result;
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
