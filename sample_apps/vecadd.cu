// The first CUDA program: four blocks on a device that could hold hundreds. Expect a sub-wave: most SMs idle,
// and 24 of 1,024 threads with nothing to add.
#include "sample.h"

extern "C" __global__ void vector_add(const float *a, const float *b, float *sum, int elements)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) {
        sum[i] = a[i] + b[i];
    }
}

int main()
{
    const int elements = 1000, threads = 256;
    const int blocks = (elements + threads - 1) / threads;
    float *a = device_floats(elements), *b = device_floats(elements), *sum = device_floats(elements);

    vector_add<<<blocks, threads>>>(a, b, sum, elements);
    launched("vector_add", blocks, threads);

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(sum));
    return 0;
}
