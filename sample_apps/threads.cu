// Eight host threads, each launching on its own default stream (compiled with --default-stream per-thread):
// 1,000 launches of a shape they all use and 100 of a shape of their own.
#include <thread>
#include <vector>

#include "sample.h"

static const int host_threads = 8, common_launches = 1000, own_launches = 100;

extern "C" __global__ void fill(float *x, float value)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static void work(int thread)
{
    float *x = device_floats(128 * host_threads);
    for (int i = 0; i < common_launches; i++) {
        fill<<<1, 128>>>(x, thread);
    }
    for (int i = 0; i < own_launches; i++) {
        fill<<<thread + 1, 64>>>(x, thread);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(cudaFree(x));
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < host_threads; i++) {
        threads.emplace_back(work, i);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    launched("fill", 1, 128, 0, (long)host_threads * common_launches);
    for (int i = 0; i < host_threads; i++) {
        launched("fill", i + 1, 64, 0, own_launches);
    }
    return 0;
}
