// Every way to launch: <<<>>>, cudaLaunchKernel and its kin, kernel handles, cooperative, clusters;
// attributes and occupancy.
#include "runtime.h"

#include <cooperative_groups.h>

extern "C" __global__ void plain(int *out, int value)
{
    if (out != nullptr) {
        out[0] = value;
    }
}

extern "C" __global__ void together(int *out)
{
    cooperative_groups::this_grid().sync();
    if (out != nullptr) {
        out[0] = 1;
    }
}

extern "C" __global__ void static_shared(int *out)
{
    __shared__ int tile[1024];
    tile[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

template <typename T> __global__ void typed(T *out)
{
    out[0] = T(1);
}

static void each_way(int *memory)
{
    int value = 3;
    void *arguments[] = {&memory, &value};
    cudaKernel_t kernel = nullptr;
    cudaFunction_t function = nullptr;
    cudaStream_t stream;

    printf("# each way once, with 1, 2, 3 ... blocks\n");
    SUCCEED(cudaStreamCreate(&stream));
    plain<<<1, 32, 0, stream>>>(memory, value);
    SUCCEED(cudaGetLastError());
    SUCCEED(cudaLaunchKernel((const void *)plain, dim3(2), dim3(32), arguments, 0, stream));
    SUCCEED(cudaGetKernel(&kernel, (const void *)plain));
    SUCCEED(cudaLaunchKernel((const void *)kernel, dim3(3), dim3(32), arguments, 0, stream));
    SUCCEED(cudaGetFuncBySymbol(&function, (const void *)plain));
    CHECK(function != nullptr);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.stream = stream;
    SUCCEED(cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    SUCCEED(cudaLaunchCooperativeKernel((const void *)together, dim3(5), dim3(32), arguments, 0, stream));
    cudaLaunchAttribute cooperative = {};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    config.gridDim = dim3(6);
    config.attrs = &cooperative;
    config.numAttrs = 1;
    SUCCEED(cudaLaunchKernelExC(&config, (const void *)together, arguments));
    cudaLaunchAttribute dependent = {};
    dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    dependent.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(7);
    config.attrs = &dependent;
    SUCCEED(cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    typed<<<8, 32>>>((float *)memory);
    SUCCEED(cudaGetLastError());
    EXPECT(cudaErrorCooperativeLaunchTooLarge,
           cudaLaunchCooperativeKernel((const void *)together, dim3(1u << 20), dim3(1024), arguments, 0,
                                       stream));
    EXPECT(cudaErrorCooperativeLaunchTooLarge, cudaGetLastError());
    SUCCEED(cudaDeviceSynchronize());
    for (unsigned blocks : {1, 2, 3, 4, 7}) {
        launched("plain", blocks, 32, 0, 1);
    }
    launched("together", 5, 32, 0, 1);
    launched("together", 6, 32, 0, 1);
    launched("_Z5typedIfEvPT_", 8, 32, 0, 1);
    SUCCEED(cudaStreamDestroy(stream));
}

static void clusters(int *memory)
{
    int value = 1, count = 0, size = 0;
    void *arguments[] = {&memory, &value};
    cudaLaunchAttribute cluster = {};
    cudaLaunchConfig_t config = {};

    printf("# clusters\n");
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3(10);
    config.blockDim = dim3(32);
    config.attrs = &cluster;
    config.numAttrs = 1;
    SUCCEED(cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    launched("plain", 10, 32, 0, 1, 0, dim3(2, 1, 1));
    SUCCEED(cudaOccupancyMaxActiveClusters(&count, (const void *)plain, &config));
    CHECK(count > 0);
    SUCCEED(cudaOccupancyMaxPotentialClusterSize(&size, (const void *)plain, &config));
    CHECK(size == 8);
    config.gridDim = dim3(11);
    EXPECT(cudaErrorInvalidClusterSize, cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    config.gridDim = dim3(32);
    cluster.val.clusterDim.x = 16;
    EXPECT(cudaErrorInvalidClusterSize, cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    EXPECT(cudaErrorInvalidClusterSize, cudaGetLastError());
    SUCCEED(cudaDeviceSynchronize());
}

static void attributes()
{
    cudaFuncAttributes found;
    const char *name = nullptr;
    size_t offset = 99, bytes = 99;
    int blocks = 0, grid = 0, block = 0;

    printf("# attributes and occupancy\n");
    SUCCEED(cudaFuncGetAttributes(&found, (const void *)static_shared));
    CHECK(found.sharedSizeBytes == 4096);
    CHECK(found.numRegs > 0 && found.maxThreadsPerBlock == 1024);
    SUCCEED(cudaFuncGetName(&name, (const void *)plain));
    CHECK(name != nullptr && strcmp(name, "plain") == 0);
    SUCCEED(cudaFuncGetParamInfo((const void *)plain, 1, &offset, &bytes));
    CHECK(offset == 8);
    CHECK(bytes == 4);
    EXPECT(cudaErrorInvalidValue, cudaFuncGetParamInfo((const void *)plain, 2, &offset, &bytes));
    SUCCEED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)plain, 1024, 0));
    CHECK(blocks == 2);
    SUCCEED(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    CHECK(grid > 0 && block == 1024);
    SUCCEED(cudaFuncSetCacheConfig((const void *)plain, cudaFuncCachePreferL1));
    SUCCEED(cudaFuncSetAttribute((const void *)plain, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

int main()
{
    int *memory = nullptr;
    SUCCEED(cudaMalloc(&memory, 1 << 16));
    each_way(memory);
    clusters(memory);
    attributes();
    return conformance::end();
}
