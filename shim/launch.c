/* Hooks of everything that launches a kernel. */
#include "launch_hooks.h"

static ALWAYS_INLINE CUresult launch_kernel(struct call call, CUfunction function, unsigned grid_x,
                                            unsigned grid_y, unsigned grid_z, unsigned block_x,
                                            unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                            CUstream stream, void **parameters, void **extra)
{
    uint64_t grid = launch_grid_word(grid_x, grid_y, grid_z);
    uint64_t block = launch_block_word(block_x, block_y, block_z, shared_bytes);
    uint32_t flags = call_flags(&call, call.api == API_cuLaunchKernel_ptsz);
    struct watched watched;
    watch_begin(&watched, function, grid, block, flags, stream);
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunchKernel)(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                           shared_bytes, stream, parameters, extra);
    if (LIKELY(result == CUDA_SUCCESS && launch_packs(grid_y, grid_z, block_x, block_y, block_z))) {
        recorder_launched(function, grid, block, flags, stream, start);
    } else if (result == CUDA_SUCCESS) {
        struct launch launch = {
            function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {0}, {0}, shared_bytes, flags,
            stream};
        recorder_launched_shape(&launch, start);
    }
    watch_end(&watched, result);
    return result;
}

static void read_attributes(const CUlaunchConfig *config, struct launch *launch)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &config->attrs[i].value;
        switch (config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            launch->cluster[0] = value->clusterDim.x;
            launch->cluster[1] = value->clusterDim.y;
            launch->cluster[2] = value->clusterDim.z;
            break;
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
            launch->preferred_cluster[0] = value->preferredClusterDim.x;
            launch->preferred_cluster[1] = value->preferredClusterDim.y;
            launch->preferred_cluster[2] = value->preferredClusterDim.z;
            break;
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            launch->flags |= value->cooperative ? LAUNCH_COOPERATIVE : 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            launch->flags |= value->programmaticStreamSerializationAllowed ? LAUNCH_PDL : 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
            launch->flags |= LAUNCH_PDL;
            break;
        default:
            break;
        }
    }
}

static void read_config(const CUlaunchConfig *config, CUfunction function, uint32_t flags,
                        struct launch *launch)
{
    *launch = (struct launch){
        .function = function,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_bytes = config->sharedMemBytes,
        .flags = flags,
        .stream = config->hStream,
    };
    read_attributes(config, launch);
}

static CUresult launch_kernel_ex(struct call call, const CUlaunchConfig *config, CUfunction function,
                                 void **parameters, void **extra)
{
    uint32_t flags = call_flags(&call, call.api == API_cuLaunchKernelEx_ptsz);
    struct launch launch;
    struct watched watched = {.token = 0};
    if (UNLIKELY(load_relaxed(&recorder.watched)) && config) {
        read_config(config, function, flags, &launch);
        watch_shape(&watched, &launch);
    }
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunchKernelEx)(config, function, parameters, extra);
    if (LIKELY(result == CUDA_SUCCESS)) {
        read_config(config, function, flags, &launch);
        recorder_launched_shape(&launch, start);
    }
    watch_end(&watched, result);
    return result;
}

static CUresult launch_cooperative(struct call call, CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, CUstream stream, void **parameters)
{
    struct launch launch = {
        .function = function,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .shared_bytes = shared_bytes,
        .flags = LAUNCH_COOPERATIVE | call_flags(&call, call.api == API_cuLaunchCooperativeKernel_ptsz),
        .stream = stream,
    };
    struct watched watched;
    watch_shape(&watched, &launch);
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunchCooperativeKernel)(function, grid_x, grid_y, grid_z, block_x, block_y,
                                                      block_z, shared_bytes, stream, parameters);
    if (LIKELY(result == CUDA_SUCCESS)) {
        recorder_launched_shape(&launch, start);
    }
    watch_end(&watched, result);
    return result;
}

/* One request that launches on several devices: each of them counts. */
static CUresult launch_multi_device(struct call call, CUDA_LAUNCH_PARAMS *list, unsigned devices,
                                    unsigned flags)
{
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunchCooperativeKernelMultiDevice)(list, devices, flags);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < devices; i++) {
        struct launch launch = {
            .function = list[i].function,
            .grid = {list[i].gridDimX, list[i].gridDimY, list[i].gridDimZ},
            .block = {list[i].blockDimX, list[i].blockDimY, list[i].blockDimZ},
            .shared_bytes = list[i].sharedMemBytes,
            .flags = LAUNCH_COOPERATIVE | LAUNCH_MULTIDEVICE | call_flags(&call, false),
            .stream = list[i].hStream,
        };
        recorder_launched_shape(&launch, i == 0 ? start : 0);
    }
    return result;
}

#define LAUNCH_HOOK HOOK_ENTRIES
#include "driver_api.def"
