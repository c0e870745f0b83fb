// Thread block clusters (compute capability 9.0 and later): the blocks of a cluster run side by side in one
// GPU processing cluster, so slots come in groups. The size is given at the launch, or fixed in the kernel.
#include "sample.h"

extern "C" __global__ void sized_at_launch(float *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CLUSTER_OF_TWO __cluster_dims__(2, 1, 1)
#else
#define CLUSTER_OF_TWO
#endif
extern "C" __global__ void CLUSTER_OF_TWO sized_in_kernel(float *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

int main()
{
    if (device_limit(cudaDevAttrComputeCapabilityMajor) < 9) {
        puts("no clusters before compute capability 9.0");
        return 0;
    }
    const dim3 grid(16 * 2112), block(128); // 16 waves of 132 SMs × 16 blocks
    float *out = device_floats(16 * 2112 * 128);

    for (unsigned blocks = 1; blocks <= 8; blocks *= 2) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = blocks;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = grid;
        config.blockDim = block;
        config.attrs = &attribute;
        config.numAttrs = 1;
        CHECK(cudaLaunchKernelEx(&config, sized_at_launch, out));
        print_launch("sized_at_launch", grid, block, dim3(blocks, 1, 1), 0, 1, 0);
    }
    sized_in_kernel<<<grid, block>>>(out);
    CHECK(cudaGetLastError());
    print_launch("sized_in_kernel", grid, block, dim3(2, 1, 1), 0, 1, 0);

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(out));
    return 0;
}
