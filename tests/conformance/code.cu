// Code for the programs that load modules from files.
__device__ int counter[4];
__constant__ float table[8];

extern "C" __global__ void scale(float *x, float factor, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        x[i] *= factor;
    }
}

extern "C" __global__ void __launch_bounds__(128) bounded(float *x)
{
    x[threadIdx.x] += table[threadIdx.x % 8] + (float)atomicAdd(&counter[0], 1);
}

template <typename T> __global__ void fill(T *x, T value)
{
    x[threadIdx.x] = value;
}
template __global__ void fill<double>(double *, double);
