/* What every sample shares, in C and in CUDA C++: an error ends the program, and each configuration that was
 * launched is printed in one line that the tests compare with the driver's ledger and the report. */
#ifndef WARPWATCH_SAMPLE_H
#define WARPWATCH_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <vector_types.h>

/* `count` launches in all, `replayed` of them by a graph. */
static inline void print_launch(const char *kernel, dim3 grid, dim3 block, dim3 cluster, size_t shared_bytes,
                                long count, long replayed)
{
    printf("launch kernel=%s device=0 grid=%u,%u,%u block=%u,%u,%u cluster=%u,%u,%u shared=%zu count=%ld "
           "replayed=%ld\n",
           kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, cluster.x, cluster.y, cluster.z,
           shared_bytes, count, replayed);
}

#ifdef __CUDACC__
#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t error_ = (call);                                                                         \
        if (error_ != cudaSuccess) {                                                                         \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));       \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* After direct launches without a cluster: checks that they were accepted, then prints them. */
static inline void launched(const char *kernel, dim3 grid, dim3 block, size_t shared_bytes = 0,
                            long count = 1)
{
    CHECK(cudaGetLastError());
    print_launch(kernel, grid, block, dim3(1, 1, 1), shared_bytes, count, 0);
}

static inline float *device_floats(size_t count)
{
    float *memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(float)));
    CHECK(cudaMemset(memory, 0, count * sizeof(float)));
    return memory;
}

static inline int device_limit(cudaDeviceAttr attribute)
{
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
    return value;
}
#endif

#endif
