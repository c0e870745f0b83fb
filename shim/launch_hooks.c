/* Hooks of everything that launches a kernel. */
#include "launch_hooks.h"

#include <string.h>

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
    struct launch_words words = {(uintptr_t)function, grid, block, flags, 0};
    uint32_t hash = recorder_expect(&words);
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunchKernel)(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                           shared_bytes, stream, parameters, extra);
    if (LIKELY(result == CUDA_SUCCESS && launch_packs(grid_y, grid_z, block_x, block_y, block_z))) {
        recorder_launched(&words, hash, stream, start);
    } else if (result == CUDA_SUCCESS) {
        struct launch launch = {
            function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {0}, {0}, shared_bytes, flags,
            stream};
        recorder_launched_shape(&launch, start);
    }
    watch_end(&watched, result);
    return result;
}

/* What attributes add to the words of a launch; false: a cluster that does not pack. */
static ALWAYS_INLINE bool add_attribute(const CUlaunchAttribute *attribute, uint64_t *extras)
{
    const CUlaunchAttributeValue *value = &attribute->value;
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        *extras |= launch_cluster_word(value->clusterDim.x, value->clusterDim.y, value->clusterDim.z, false);
        return launch_cluster_packs(value->clusterDim.x, value->clusterDim.y, value->clusterDim.z);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        *extras |= launch_cluster_word(value->preferredClusterDim.x, value->preferredClusterDim.y,
                                       value->preferredClusterDim.z, true);
        return launch_cluster_packs(value->preferredClusterDim.x, value->preferredClusterDim.y,
                                    value->preferredClusterDim.z);
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        *extras |= value->cooperative ? LAUNCH_COOPERATIVE : 0;
        return true;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        *extras |= value->programmaticStreamSerializationAllowed ? LAUNCH_PDL : 0;
        return true;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        *extras |= LAUNCH_PDL;
        return true;
    default:
        return true;
    }
}

struct config_words {
    struct launch_words words;
    bool fits;
};

static ALWAYS_INLINE struct config_words pack_config(const CUlaunchConfig *config, CUfunction function,
                                                     uint32_t flags)
{
    struct config_words packed = {
        .words.function = (uintptr_t)function,
        .words.grid = launch_grid_word(config->gridDimX, config->gridDimY, config->gridDimZ),
        .words.block = launch_block_word(config->blockDimX, config->blockDimY, config->blockDimZ,
                                         config->sharedMemBytes),
        .words.extras = flags,
        .fits = launch_packs(config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY,
                             config->blockDimZ),
    };
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        packed.fits = add_attribute(&config->attrs[i], &packed.words.extras) && packed.fits;
    }
    return packed;
}

/* A shape beyond the words: whatever is known of it goes the long way. */
static COLD void launched_config(const CUlaunchConfig *config, CUfunction function, uint64_t extras,
                                 uint64_t start)
{
    struct launch launch = {
        .function = function,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_bytes = config->sharedMemBytes,
        .flags = (uint32_t)extras & ((1u << LAUNCH_FLAG_BITS) - 1),
        .stream = config->hStream,
    };
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &config->attrs[i].value;
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            memcpy(launch.cluster, &value->clusterDim, sizeof launch.cluster);
        }
    }
    recorder_launched_shape(&launch, start);
}

static CUresult launch_kernel_ex(struct call call, const CUlaunchConfig *config, CUfunction function,
                                 void **parameters, void **extra)
{
    if (UNLIKELY(config == NULL)) {
        return REAL(cuLaunchKernelEx)(config, function, parameters, extra);
    }
    struct config_words packed =
        pack_config(config, function, call_flags(&call, call.api == API_cuLaunchKernelEx_ptsz));
    struct watched watched;
    watch_begin(&watched, function, packed.words.grid, packed.words.block, packed.words.extras,
                config->hStream);
    uint32_t hash = recorder_expect(&packed.words);
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunchKernelEx)(config, function, parameters, extra);
    if (LIKELY(result == CUDA_SUCCESS && packed.fits)) {
        recorder_launched(&packed.words, hash, config->hStream, start);
    } else if (result == CUDA_SUCCESS) {
        launched_config(config, function, packed.words.extras, start);
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
