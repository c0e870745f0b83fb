// A transpose through shared memory. Columns of a 32 × 32 tile all lie in one of the 32 banks, so a warp's
// reads queue up 32 deep; one column of padding spreads them over all banks.
#include "sample.h"

template <int PADDING> __global__ void transpose(float *out, const float *in, int width)
{
    __shared__ float tile[32][32 + PADDING];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[row * width + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    out[row * width + column] = tile[threadIdx.x][threadIdx.y];
}

int main()
{
    const int width = 1024;
    const dim3 grid(width / 32, width / 32), block(32, 32);
    float *in = device_floats(width * width), *out = device_floats(width * width);
    transpose<0><<<grid, block>>>(out, in, width);
    launched("_Z9transposeILi0EEvPfPKfi", grid, block);
    transpose<1><<<grid, block>>>(out, in, width);
    launched("_Z9transposeILi1EEvPfPKfi", grid, block);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}
