// Registers against occupancy: the same work compiled for 1 to 8 resident blocks of 256 threads a SM. The
// compiler keeps within 65,536 ÷ (256 × blocks) registers a thread, from 255 down to 32, and spills the rest.
#include "sample.h"

template <int BLOCKS_PER_SM>
__global__ void __launch_bounds__(256, BLOCKS_PER_SM) hungry(float *data, int rounds)
{
    float kept[248];
#pragma unroll
    for (int i = 0; i < 248; i++) {
        kept[i] = data[i * 256 + threadIdx.x];
    }
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < 248; i++) {
            kept[i] = kept[i] * kept[(i + 1) % 248] + 1.0f;
        }
    }
#pragma unroll
    for (int i = 0; i < 248; i++) {
        data[i * 256 + threadIdx.x] = kept[i];
    }
}

template <int BLOCKS_PER_SM> static void launch_for(float *data)
{
    char mangled[64];
    snprintf(mangled, sizeof mangled, "_Z6hungryILi%dEEvPfi", BLOCKS_PER_SM);
    const int whole_waves = 132 * 120; // on a GPU of 132 SMs, whatever of 1 to 6 or 8 blocks fit on each
    hungry<BLOCKS_PER_SM><<<whole_waves, 256>>>(data, 10);
    launched(mangled, whole_waves, 256);
}

int main()
{
    float *data = device_floats(248 * 256);
    launch_for<1>(data);
    launch_for<2>(data);
    launch_for<3>(data);
    launch_for<4>(data);
    launch_for<5>(data);
    launch_for<6>(data);
    launch_for<8>(data);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
