/* cuGetProcAddress, both versions: by name, CUDA version and default stream to an exported function. */
#include "driver.h"
#include "exported.h"
#include "require.h"
#include "settings.h"

#include <string.h>

enum flavour { LEGACY, PER_THREAD };

struct export
{
    const char *name;
    int version;
    enum flavour flavour;
    void *function;
};

static const struct export exports[] = {
#define EXPORT(symbol, name, version, default_stream)                                                        \
    {#name, version, default_stream, (void *)exported_##symbol},
#include "exports.def"
#undef EXPORT
};

#define KNOWN_FLAGS (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)

/* A newer variant is better; a variant for the wanted default stream is better than one for the other. */
static bool is_better(const struct export *candidate, const struct export *best)
{
    if (!best || candidate->flavour != best->flavour) {
        return !best || candidate->flavour == PER_THREAD;
    }
    return candidate->version > best->version;
}

static CUdriverProcAddressQueryResult look_up(const char *name, int version, cuuint64_t flags,
                                              void **function)
{
    bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    const struct export *best = NULL;
    bool known = false;
    for (int i = 0; i < CALLS; i++) {
        const struct export *candidate = &exports[i];
        if (candidate->version > settings.driver_version || strcmp(candidate->name, name) != 0 ||
            (candidate->flavour == PER_THREAD && !per_thread)) {
            continue;
        }
        known = true;
        if (candidate->version <= version && is_better(candidate, best)) {
            best = candidate;
        }
    }
    *function = best ? best->function : NULL;
    return best    ? CU_GET_PROC_ADDRESS_SUCCESS
           : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                   : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pointer, int version, cuuint64_t flags)
{
    COUNT_CALL(cuGetProcAddress);
    REQUIRE(symbol && pointer && (flags & ~(cuuint64_t)KNOWN_FLAGS) == 0);
    settings_read();
    void *function;
    if (look_up(symbol, version, flags, &function) != CU_GET_PROC_ADDRESS_SUCCESS) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *pointer = function;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **pointer, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *status)
{
    COUNT_CALL(cuGetProcAddress_v2);
    REQUIRE(symbol && pointer && (flags & ~(cuuint64_t)KNOWN_FLAGS) == 0);
    settings_read();
    CUdriverProcAddressQueryResult found = look_up(symbol, version, flags, pointer);
    if (status) {
        *status = found;
    }
    return CUDA_SUCCESS;
}
