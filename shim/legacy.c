/* Hooks of the launches of before CUDA 4. Drivers still have them; few programs do. */
#include "launch_hooks.h"
#include "registry.h"

/* Exported by every driver, declared in no header any more. */
#define LEGACY_HOOK(name, wrapper, parameters, arguments) CUresult name parameters;
#include "driver_api.def"

static void launched(const struct call *call, CUfunction function, int width, int height, CUstream stream,
                     uint64_t start)
{
    struct launch launch = {
        .function = function,
        .grid = {(uint32_t)width, (uint32_t)height, 1},
        .block = {1, 1, 1},
        .flags = call_flags(call, false),
        .stream = stream,
    };
    recorder_lock_take();
    const struct legacy_shape *shape = registry_legacy_shape(function, false);
    if (shape) {
        launch.shared_bytes = shape->shared_bytes;
        for (int i = 0; i < 3; i++) {
            launch.block[i] = shape->block[i] ? shape->block[i] : 1;
        }
    }
    recorder_lock_give();
    recorder_launched_shape(&launch, start);
}

static CUresult legacy_launch(struct call call, CUfunction function)
{
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunch)(function);
    if (result == CUDA_SUCCESS) {
        launched(&call, function, 1, 1, NULL, start);
    }
    return result;
}

static CUresult legacy_grid(struct call call, CUfunction function, int width, int height)
{
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunchGrid)(function, width, height);
    if (result == CUDA_SUCCESS) {
        launched(&call, function, width, height, NULL, start);
    }
    return result;
}

static CUresult legacy_grid_async(struct call call, CUfunction function, int width, int height,
                                  CUstream stream)
{
    uint64_t start = recorder_start();
    CUresult result = REAL(cuLaunchGridAsync)(function, width, height, stream);
    if (result == CUDA_SUCCESS) {
        launched(&call, function, width, height, stream, start);
    }
    return result;
}

static CUresult legacy_set_block(struct call call, CUfunction function, int x, int y, int z)
{
    CUresult result = REAL(cuFuncSetBlockShape)(function, x, y, z);
    if (result == CUDA_SUCCESS) {
        recorder_lock_take();
        struct legacy_shape *shape = registry_legacy_shape(function, true);
        if (shape) {
            shape->block[0] = (uint32_t)x;
            shape->block[1] = (uint32_t)y;
            shape->block[2] = (uint32_t)z;
        }
        recorder_lock_give();
    }
    return result;
}

static CUresult legacy_set_shared(struct call call, CUfunction function, unsigned bytes)
{
    CUresult result = REAL(cuFuncSetSharedSize)(function, bytes);
    if (result == CUDA_SUCCESS) {
        recorder_lock_take();
        struct legacy_shape *shape = registry_legacy_shape(function, true);
        if (shape) {
            shape->shared_bytes = bytes;
        }
        recorder_lock_give();
    }
    return result;
}

#define LEGACY_HOOK HOOK_ENTRIES
#include "driver_api.def"
