/* Argument checks that return from an exported function. */
#ifndef SIMCUDA_REQUIRE_H
#define SIMCUDA_REQUIRE_H

#include "driver.h"

#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            return CUDA_ERROR_INVALID_VALUE;                                                                 \
        }                                                                                                    \
    } while (0)

/* Declares a device pointer. */
#define REQUIRE_DEVICE(variable, ordinal)                                                                    \
    struct device *variable = device_of(ordinal);                                                            \
    if (!variable) {                                                                                         \
        return CUDA_ERROR_INVALID_DEVICE;                                                                    \
    }

/* A handle of the given kind. A dead one was used after its object was unloaded or destroyed: a fault. */
#define REQUIRE_HANDLE(handle, kind, symbol)                                                                 \
    do {                                                                                                     \
        if (!object_is(handle, kind)) {                                                                      \
            return object_refuse(handle, CALL_##symbol);                                                     \
        }                                                                                                    \
    } while (0)

/* Returns the first error from the enclosing function. */
#define TRY(expression)                                                                                      \
    do {                                                                                                     \
        CUresult tried_ = (expression);                                                                      \
        if (tried_ != CUDA_SUCCESS) {                                                                        \
            return tried_;                                                                                   \
        }                                                                                                    \
    } while (0)

/* INVALID_HANDLE, and a fault in the ledger unless the handle is NULL. */
CUresult object_refuse(const void *handle, enum call call);

#endif
