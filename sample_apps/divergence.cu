// The same half of the threads takes the long path, once lane by lane, so that every warp walks both paths,
// and once warp by warp, so that none does. Only the hardware's counters can tell the two apart.
#include "sample.h"

__device__ float long_path(float x)
{
    for (int i = 0; i < 64; i++) {
        x = x * 0.999f + 0.001f;
    }
    return x;
}

extern "C" __global__ void diverge_by_lane(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = threadIdx.x % 2 ? long_path(x[i]) : x[i] + 1.0f;
}

extern "C" __global__ void diverge_by_warp(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = threadIdx.x / 32 % 2 ? long_path(x[i]) : x[i] + 1.0f;
}

int main()
{
    const int blocks = 4096, threads = 256;
    float *x = device_floats((size_t)blocks * threads);
    diverge_by_lane<<<blocks, threads>>>(x);
    launched("diverge_by_lane", blocks, threads);
    diverge_by_warp<<<blocks, threads>>>(x);
    launched("diverge_by_warp", blocks, threads);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    return 0;
}
