// Small kernels whose cubins seed the fuzzer: each attribute of a kernel occurs once.
__device__ int counter;
__constant__ float factor[4];
static __device__ int hidden = 3;

extern "C" __global__ void plain(int *out)
{
    *out = hidden;
}

template <int N> __global__ void __launch_bounds__(N, 2) bounded(float *data, char last)
{
    __shared__ float tile[N];
    tile[threadIdx.x] = data[threadIdx.x] * factor[last & 3];
    __syncthreads();
    data[threadIdx.x] = tile[(threadIdx.x + last) % N];
    atomicAdd(&counter, 1);
}
template __global__ void bounded<64>(float *, char);

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clustered(int *out)
{
    *out = 1;
}
#endif
