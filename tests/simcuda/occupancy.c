/* Occupancy by cuda_occupancy.h, and the exported functions that answer with it. */
#include "occupancy.h"

#include "require.h"
#include "settings.h"

#include <cuda_occupancy.h>

static cudaOccDeviceProp properties_of(const struct device *device)
{
    const struct device_capability *sm = device->sm;
    return (cudaOccDeviceProp){
        .computeMajor = sm->capability / 10,
        .computeMinor = sm->capability % 10,
        .maxThreadsPerBlock = MAX_THREADS_PER_BLOCK,
        .maxThreadsPerMultiprocessor = sm->threads,
        .regsPerBlock = REGISTERS_PER_SM,
        .regsPerMultiprocessor = REGISTERS_PER_SM,
        .warpSize = WARP_THREADS,
        .sharedMemPerBlock = SHARED_WITHOUT_OPTIN_BYTES,
        .sharedMemPerMultiprocessor = (size_t)sm->shared_kib * 1024,
        .numSms = device->model->sms,
        .sharedMemPerBlockOptin = (size_t)sm->shared_optin_kib * 1024,
        .reservedSharedMemPerBlock = (size_t)sm->reserved_bytes,
    };
}

static cudaOccFuncAttributes attributes_of(const struct CUfunc_st *function)
{
    const struct kernel_code *code = function->code;
    return (cudaOccFuncAttributes){
        .maxThreadsPerBlock = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .numRegs = (int)code->info.registers_per_thread,
        .sharedSizeBytes = code->info.static_shared_bytes,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes =
            (size_t)function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        .numBlockBarriers = (int)code->info.barriers,
    };
}

static cudaOccDeviceState state_of(const struct CUfunc_st *function)
{
    return (cudaOccDeviceState){
        .cacheConfig = CACHE_PREFER_NONE,
        .carveoutConfig = function_attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)};
}

int occupancy_blocks(const struct CUfunc_st *function, int threads, size_t dynamic_shared_bytes)
{
    cudaOccDeviceProp properties = properties_of(function->context->device);
    cudaOccFuncAttributes attributes = attributes_of(function);
    cudaOccDeviceState state = state_of(function);
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, threads,
                                                dynamic_shared_bytes) != CUDA_OCC_SUCCESS) {
        return 0;
    }
    int blocks = result.activeBlocksPerMultiprocessor - settings.blocks_per_sm_penalty;
    return blocks > 0 ? blocks : 0;
}

int occupancy_clusters(const struct CUfunc_st *function, int threads, size_t dynamic_shared_bytes,
                       unsigned cluster_blocks)
{
    int blocks_per_sm = occupancy_blocks(function, threads, dynamic_shared_bytes);
    int clusters = 0;
    for (const int *sms = function->context->device->model->gpcs; *sms; sms++) {
        clusters += *sms * blocks_per_sm / (int)cluster_blocks;
    }
    return clusters;
}

/* --- exported ------------------------------------------------------------------------------------------ */

/* `handle` may be a CUkernel: the function of the current context is meant. */
static CUresult enter_query(enum call call, CUfunction handle, struct CUfunc_st **function)
{
    struct CUctx_st *context;
    TRY(driver_enter_in_context(call, &context));
    TRY(launch_resolve(handle, context, call, function));
    function_note_query(*function, call);
    return CUDA_SUCCESS;
}

static CUresult active_blocks(enum call call, int *blocks, CUfunction handle, int threads,
                              size_t dynamic_bytes)
{
    struct CUfunc_st *function;
    TRY(enter_query(call, handle, &function));
    REQUIRE(blocks && threads > 0);
    *blocks = occupancy_blocks(function, threads, dynamic_bytes);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads,
                                                             size_t dynamic_bytes)
{
    return active_blocks(CALL_cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks, handle, threads,
                         dynamic_bytes);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                                      int threads, size_t dynamic_bytes,
                                                                      unsigned flags)
{
    if (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) {
        COUNT_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return active_blocks(CALL_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, handle, threads,
                         dynamic_bytes);
}

/* The block size, a multiple of the warp, with the most resident threads; the largest one on a tie. */
static CUresult potential_block(enum call call, int *grid, int *block, CUfunction handle,
                                CUoccupancyB2DSize bytes_of, size_t dynamic_bytes, int limit)
{
    struct CUfunc_st *function;
    TRY(enter_query(call, handle, &function));
    REQUIRE(grid && block);
    int most = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    int largest = limit > 0 && limit < most ? limit : most;
    int best_threads = 0, best_blocks = 0;
    for (int threads = largest; threads > 0; threads = (threads - 1) / WARP_THREADS * WARP_THREADS) {
        int blocks = occupancy_blocks(function, threads, bytes_of ? bytes_of(threads) : dynamic_bytes);
        if (blocks * threads > best_blocks * best_threads) {
            best_threads = threads;
            best_blocks = blocks;
        }
    }
    *block = best_threads;
    *grid = best_blocks * function->context->device->model->sms;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction handle,
                                                  CUoccupancyB2DSize bytes_of, size_t dynamic_bytes,
                                                  int limit)
{
    return potential_block(CALL_cuOccupancyMaxPotentialBlockSize, grid, block, handle, bytes_of,
                           dynamic_bytes, limit);
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction handle,
                                                           CUoccupancyB2DSize bytes_of, size_t dynamic_bytes,
                                                           int limit, unsigned flags)
{
    (void)flags;
    return potential_block(CALL_cuOccupancyMaxPotentialBlockSizeWithFlags, grid, block, handle, bytes_of,
                           dynamic_bytes, limit);
}

CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction handle, int blocks,
                                                         int threads)
{
    struct CUfunc_st *function;
    TRY(enter_query(CALL_cuOccupancyAvailableDynamicSMemPerBlock, handle, &function));
    REQUIRE(bytes && blocks > 0 && threads > 0);
    cudaOccDeviceProp properties = properties_of(function->context->device);
    cudaOccFuncAttributes attributes = attributes_of(function);
    cudaOccDeviceState state = state_of(function);
    bool known = cudaOccAvailableDynamicSMemPerBlock(bytes, &properties, &attributes, &state, blocks,
                                                     threads) == CUDA_OCC_SUCCESS;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* --- clusters ------------------------------------------------------------------------------------------ */

static struct launch_request request_of(struct CUfunc_st *function, const CUlaunchConfig *config)
{
    return (struct launch_request){
        .function = function,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamic_shared_bytes = config->sharedMemBytes,
        .attributes = config->attrs,
        .attribute_count = config->numAttrs,
    };
}

CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle, const CUlaunchConfig *config)
{
    struct CUfunc_st *function;
    TRY(enter_query(CALL_cuOccupancyMaxActiveClusters, handle, &function));
    REQUIRE(clusters && config);
    if (function->context->device->sm->cluster == 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    struct launch_request request = request_of(function, config);
    TRY(launch_check(&request));
    unsigned threads = request.block[0] * request.block[1] * request.block[2];
    *clusters = occupancy_clusters(function, (int)threads, request.dynamic_shared_bytes,
                                   request.cluster[0] * request.cluster[1] * request.cluster[2]);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int *blocks, CUfunction handle,
                                                    const CUlaunchConfig *config)
{
    struct CUfunc_st *function;
    TRY(enter_query(CALL_cuOccupancyMaxPotentialClusterSize, handle, &function));
    REQUIRE(blocks && config);
    int most = launch_cluster_limit(function);
    if (most == 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    unsigned threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    while (most > 1 &&
           occupancy_clusters(function, (int)threads, config->sharedMemBytes, (unsigned)most) == 0) {
        most--;
    }
    *blocks = most;
    return CUDA_SUCCESS;
}
