// Language models write one token at a time: an RMS norm with one block per token has as many blocks as the
// batch has sequences. Small batches leave most SMs idle, however wide the model is.
#include "sample.h"

extern "C" __global__ void rms_norm(float *tokens, int width)
{
    __shared__ float sum;
    float *token = tokens + (size_t)blockIdx.x * width;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    float squares = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        squares += token[i] * token[i];
    }
    atomicAdd(&sum, squares);
    __syncthreads();
    float scale = rsqrtf(sum / width + 1e-6f);
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        token[i] *= scale;
    }
}

int main()
{
    const int widths[] = {64, 512, 4096}, largest_batch = 256, layers = 32;
    float *tokens = device_floats((size_t)largest_batch * 4096);
    for (int width : widths) {
        int threads = width < 1024 ? width : 1024;
        for (int batch = 1; batch <= largest_batch; batch *= 2) {
            for (int layer = 0; layer < layers; layer++) {
                rms_norm<<<batch, threads>>>(tokens, width);
            }
            launched("rms_norm", batch, threads, 0, layers);
        }
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(tokens));
    return 0;
}
