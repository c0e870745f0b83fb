/* The driver as the shim sees it: for every hooked function libcuda's own address and the next definition
 * after ours, and libcuda's own functions for the shim's questions. */
#ifndef WARPWATCH_DRIVER_H
#define WARPWATCH_DRIVER_H

/* Every version of every function by its own name. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "platform.h"

enum driver_api {
#define ANY_HOOK(name, wrapper, parameters, arguments) API_##name,
#include "driver_api.def"
    API_COUNT
};

/* libcuda's own functions and the next definitions; NULL until known. */
extern HIDDEN _Atomic(void *) driver_own_functions[API_COUNT];
extern HIDDEN _Atomic(void *) driver_next_functions[API_COUNT];

/* Which hooked function a name or an address of libcuda stands for; API_COUNT if none. */
enum driver_api driver_api_of_name(const char *name);
enum driver_api driver_api_of_address(const void *address);
/* The wrapper that replaces libcuda's own function in an answer to a lookup. */
void *driver_wrapper(enum driver_api api);

bool driver_is_mapped(void);
bool driver_holds(const void *address);

void *driver_resolve_own(enum driver_api api);
void *driver_resolve_next(enum driver_api api);

static inline void *driver_own(enum driver_api api)
{
    void *function = load_relaxed(&driver_own_functions[api]);
    return LIKELY(function != NULL) ? function : driver_resolve_own(api);
}

static inline void *driver_next(enum driver_api api)
{
    void *function = load_relaxed(&driver_next_functions[api]);
    return LIKELY(function != NULL) ? function : driver_resolve_next(api);
}

/* libcuda's functions for the shim's own questions: driver_query()->cuFuncGetName is NULL in an old driver.
 */
struct driver_queries {
#define QUERY(name, parameters) CUresult(*name) parameters;
#include "driver_queries.def"
};
const struct driver_queries *driver_query(void);
void *driver_symbol(const char *name);

#endif
