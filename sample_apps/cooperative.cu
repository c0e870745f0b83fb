// Blocks that wait for each other must all be resident: a cooperative grid is at most one full wave, so that
// its size follows the device, not the data. It is never a tail.
#include <cooperative_groups.h>

#include "sample.h"

extern "C" __global__ void sum_in_two_phases(float *partial, float *total)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x;
    }
    grid.sync();
    if (grid.thread_rank() == 0) {
        float sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) {
            sum += partial[i];
        }
        *total = sum;
    }
}

int main()
{
    const int threads = 256;
    int blocks_per_sm = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, sum_in_two_phases, threads, 0));
    int full_wave = blocks_per_sm * device_limit(cudaDevAttrMultiProcessorCount);
    const int grids[] = {full_wave / 2, full_wave};
    float *partial = device_floats(full_wave), *total = device_floats(1);

    for (int blocks : grids) {
        void *arguments[] = {&partial, &total};
        CHECK(cudaLaunchCooperativeKernel(sum_in_two_phases, blocks, threads, arguments, 0, 0));
        launched("sum_in_two_phases", blocks, threads);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(partial));
    CHECK(cudaFree(total));
    return 0;
}
