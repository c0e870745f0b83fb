// Ten thousand launches of a kernel that does next to nothing: each costs microseconds on the host and leaves
// all SMs but one idle. What helps is a larger kernel or a graph (see graph.cu).
#include "sample.h"

extern "C" __global__ void add_one(float *x)
{
    x[threadIdx.x] += 1.0f;
}

int main()
{
    const int launches = 10000, threads = 32;
    float *x = device_floats(threads);
    for (int i = 0; i < launches; i++) {
        add_one<<<1, threads>>>(x);
    }
    launched("add_one", 1, threads, 0, launches);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    return 0;
}
