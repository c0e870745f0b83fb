/* A call of the driver that must succeed. */
#ifndef WARPWATCH_DRIVER_CHECK_H
#define WARPWATCH_DRIVER_CHECK_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        CUresult error_ = (call);                                                                            \
        if (error_ != CUDA_SUCCESS) {                                                                        \
            fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)error_);                \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
