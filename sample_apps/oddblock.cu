// A block of 100 threads still takes four warps: 28 lanes of the last one are switched off from start to end.
#include "sample.h"

extern "C" __global__ void scale(float *x, float factor, int elements)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) {
        x[i] *= factor;
    }
}

int main()
{
    const int elements = 1 << 20, block_sizes[] = {100, 128};
    float *x = device_floats(elements);
    for (int threads : block_sizes) {
        int blocks = (elements + threads - 1) / threads;
        scale<<<blocks, threads>>>(x, 2.0f, elements);
        launched("scale", blocks, threads);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    return 0;
}
