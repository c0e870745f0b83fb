/* Occupancy as the driver answers it, and what it means for cooperative and cluster launches. */
#include "conformance.h"

static CUdevice device;

static int device_attribute(CUdevice_attribute which)
{
    int value = 0;
    api.cuDeviceGetAttribute(&value, which, device);
    return value;
}

static int blocks_of(CUfunction function, int threads, size_t dynamic_bytes)
{
    int blocks = -1;
    SUCCEED(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, dynamic_bytes));
    return blocks;
}

static void blocks(CUfunction plain)
{
    int threads = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    int most = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    CHECK(blocks_of(plain, 256, 0) == threads / 256);
    CHECK(blocks_of(plain, 1024, 0) == threads / 1024);
    CHECK(blocks_of(plain, 32, 0) == most);
    int shared = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    int reserved = device_attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    CHECK(blocks_of(plain, 32, 49152) == shared / (49152 + reserved));
    CHECK(blocks_of(plain, 32, 49153) == 0); /* more than the function may have */
    int value;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, plain, 0, 0));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, NULL, 32, 0));
    SUCCEED(api.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, plain, 256, 0, 0));
}

static void suggestions(CUfunction plain, CUfunction bounded)
{
    int grid = 0, block = 0;
    int sms = device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    SUCCEED(api.cuOccupancyMaxPotentialBlockSize(&grid, &block, plain, NULL, 0, 0));
    CHECK(block > 0 && block <= 1024 && grid % sms == 0);
    CHECK(blocks_of(plain, block, 0) * sms == grid);
    SUCCEED(api.cuOccupancyMaxPotentialBlockSize(&grid, &block, bounded, NULL, 0, 0));
    CHECK(block > 0 && block <= 256);
    size_t bytes = 0;
    SUCCEED(api.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 2, 64));
    CHECK(bytes > 0 && blocks_of(plain, 64, bytes) >= 2);
}

static void clusters(CUfunction plain)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value = {.clusterDim = {4, 1, 1}}};
    CUlaunchConfig config = {16, 1, 1, 128, 1, 1, 0, NULL, &attribute, 1};
    int value = 0;
    if (!device_attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)) {
        GUESS(CUDA_ERROR_NOT_SUPPORTED, api.cuOccupancyMaxActiveClusters(&value, plain, &config));
        return;
    }
    SUCCEED(api.cuOccupancyMaxActiveClusters(&value, plain, &config));
    int slots = device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * blocks_of(plain, 128, 0);
    CHECK(value > 0 && value * 4 <= slots);
    SUCCEED(api.cuOccupancyMaxPotentialClusterSize(&value, plain, &config));
    CHECK(value >= 8);
}

int main(void)
{
    conformance_begin();
    SUCCEED(api.cuDeviceGet(&device, 0));
    CUmodule module = load_ptx(kernels_ptx);
    CUfunction plain = function_of(module, "plain"), bounded = function_of(module, "bounded");
    blocks(plain);
    suggestions(plain, bounded);
    clusters(plain);
    SUCCEED(api.cuModuleUnload(module));
    return conformance_end();
}
