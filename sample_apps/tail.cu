// One block too many: with 2 blocks of 1,024 threads a SM and 132 SMs (H100, H200), 264 blocks fill one wave
// exactly and the 265th runs alone in a second. From thousands of blocks on, the tail no longer matters.
#include "sample.h"

extern "C" __global__ void __launch_bounds__(1024) one_wave(float *out, int rounds)
{
    float x = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        x = x * 0.5f + 1.0f;
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = x;
    }
}

int main()
{
    const int threads = 1024;
    const struct {
        int blocks, launches;
    } runs[] = {{264, 1}, {265, 100}, {1000, 1}, {100000, 1}};
    float *out = device_floats(100000);
    for (auto run : runs) {
        for (int i = 0; i < run.launches; i++) {
            one_wave<<<run.blocks, threads>>>(out, 1000);
        }
        launched("one_wave", run.blocks, threads, 0, run.launches);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(out));
    return 0;
}
