// Shared memory against occupancy: 48 KB static, then 100 KB and 200 KB dynamic, which a kernel gets only
// after it has opted in. A device whose limit is lower is not asked for more than it has.
#include "sample.h"

extern "C" __global__ void static_48k(float *out)
{
    __shared__ float tile[12 * 1024];
    for (int i = threadIdx.x; i < 12 * 1024; i += blockDim.x) {
        tile[i] = out[i % 256];
    }
    __syncthreads();
    out[threadIdx.x] = tile[12 * 1024 - 1 - threadIdx.x];
}

extern "C" __global__ void dynamic_tile(float *out, int floats)
{
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < floats; i += blockDim.x) {
        tile[i] = out[i % 256];
    }
    __syncthreads();
    out[threadIdx.x] = tile[floats - 1 - threadIdx.x];
}

int main()
{
    const int blocks = 264, threads = 256, limit = device_limit(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int sizes[] = {100 * 1024, 200 * 1024};
    float *out = device_floats(threads);

    static_48k<<<blocks, threads>>>(out);
    launched("static_48k", blocks, threads);
    for (int bytes : sizes) {
        if (bytes > limit) {
            printf("%d bytes of shared memory: this device allows %d a block\n", bytes, limit);
            continue;
        }
        CHECK(cudaFuncSetAttribute(dynamic_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        dynamic_tile<<<blocks, threads, bytes>>>(out, bytes / (int)sizeof(float));
        launched("dynamic_tile", blocks, threads, bytes);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(out));
    return 0;
}
