// Kernels that differ in every figure a scan reports: what ptxas says of each is what the scan must say.
#include <cuda_fp16.h>

namespace
{
__device__ float table[256];
__constant__ float weights[64];
} // namespace

extern "C" __global__ void empty() {}

extern "C" __global__ void named_like_c(int *out)
{
    out[threadIdx.x] = 1;
}

static __global__ void hidden(int *out)
{
    out[threadIdx.x] = 2;
}

namespace
{
__global__ void anonymous(int *out)
{
    out[threadIdx.x] = 3;
}
} // namespace

// N values that are all alive in a loop: registers grow with N until they spill.
template <int N> __device__ void mix(const double *in, double *out, int rounds)
{
    double value[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
        value[i] = in[threadIdx.x + i * 1024];
    }
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            value[i] += value[(i * 7 + 3) % N] * 0.5;
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        out[threadIdx.x + i * 1024] = value[i];
    }
}

template <int N> __global__ void live_values(const double *in, double *out, int rounds)
{
    mix<N>(in, out, rounds);
}
template __global__ void live_values<4>(const double *, double *, int);
template __global__ void live_values<33>(const double *, double *, int);
template __global__ void live_values<80>(const double *, double *, int);
template __global__ void live_values<140>(const double *, double *, int);

// Bounds that force spills earlier.
template <int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) bounded(const double *in, double *out, int rounds)
{
    mix<40>(in, out, rounds);
}
template __global__ void bounded<64, 1>(const double *, double *, int);
template __global__ void bounded<256, 4>(const double *, double *, int);
template __global__ void bounded<1024, 1>(const double *, double *, int);

template <typename T, int N> __global__ void shared_tile(T *data)
{
    __shared__ T tile[N];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[(threadIdx.x + 1) % N];
}
template __global__ void shared_tile<char, 1>(char *);
template __global__ void shared_tile<__half, 100>(__half *);
template __global__ void shared_tile<double, 6000>(double *);
template __global__ void shared_tile<double, 6144>(double *);

// A local array indexed at run time lives on the stack.
template <int N> __global__ void local_array(int *data, int at)
{
    int local[N];
    for (int i = 0; i < N; i++) {
        local[(i * at) % N] = data[i];
    }
    data[0] = local[at];
}
template __global__ void local_array<50>(int *, int);
template __global__ void local_array<4096>(int *, int);

template <int BARRIERS> __global__ void named_barriers(int *data)
{
    __syncthreads();
#pragma unroll
    for (int i = 1; i < BARRIERS; i++) {
        asm volatile("bar.sync %0, 64;" ::"r"(i));
    }
    data[threadIdx.x] = 1;
}
template __global__ void named_barriers<2>(int *);
template __global__ void named_barriers<16>(int *);

__noinline__ __device__ int recursive(int n)
{
    return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}
__global__ void calls_itself(int *data)
{
    data[0] = recursive(data[1]);
}

__noinline__ __device__ int with_frame(int *data, int at)
{
    int local[60];
    for (int i = 0; i < 60; i++) {
        local[(i * at) % 60] = data[i];
    }
    return local[at];
}
__global__ void calls_a_function(int *data, int at)
{
    int local[10];
    for (int i = 0; i < 10; i++) {
        local[(i * at) % 10] = data[i];
    }
    data[0] = with_frame(data, at) + local[at % 10];
}

struct Large {
    float value[1000];
};
__global__ void large_parameter(const __grid_constant__ Large large, float *out, int at)
{
    out[0] = large.value[at] + weights[at] + table[at];
}

struct alignas(16) Vector {
    float value[3];
};
__global__ void padded_parameters(char a, double b, char c, Vector d, short e, float *out)
{
    out[0] = a + b + c + d.value[1] + e;
}

#if __CUDA_ARCH__ >= 900
template <int X, int Y> __global__ void __cluster_dims__(X, Y, 1) clustered(int *out)
{
    out[blockIdx.x] = 1;
}
template __global__ void clustered<2, 1>(int *);
template __global__ void clustered<2, 4>(int *);

__global__ void __launch_bounds__(128, 2, 8) bounded_cluster(int *out)
{
    out[blockIdx.x] = 1;
}
#endif

// Keeps the static kernels.
void *kernels[] = {(void *)hidden, (void *)anonymous};
