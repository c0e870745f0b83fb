// Neighbouring threads read STRIDE floats apart. A warp's 128 bytes come in 4 sectors of 32 bytes at stride 1
// and in 32 at stride 8 and beyond: the memory moves eight times what was asked for.
#include "sample.h"

template <int STRIDE> __global__ void read_strided(float *out, const float *in)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * STRIDE];
}

template <int STRIDE> static void launch_for(float *out, const float *in)
{
    const int blocks = 1024, threads = 256;
    char mangled[64];
    snprintf(mangled, sizeof mangled, "_Z12read_stridedILi%dEEvPfPKf", STRIDE);
    read_strided<STRIDE><<<blocks, threads>>>(out, in);
    launched(mangled, blocks, threads);
}

int main()
{
    const size_t elements = 1024 * 256;
    float *out = device_floats(elements), *in = device_floats(elements * 32);
    launch_for<1>(out, in);
    launch_for<2>(out, in);
    launch_for<8>(out, in);
    launch_for<32>(out, in);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(out));
    CHECK(cudaFree(in));
    return 0;
}
