/* The exported launch functions, old and new. */
#include "context.h"
#include "function.h"
#include "launch.h"
#include "require.h"
#include "stream.h"

static CUresult submit(const struct entry *entry, struct CUstream_st *stream, CUfunction handle,
                       struct launch_request *request)
{
    TRY(launch_resolve(handle, stream->context, entry->call, &request->function));
    return launch_submit(stream, request);
}

STREAM_ENTRY(cuLaunchKernel, _ptsz,
             (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,
              extra),
             CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters,
             void **extra)
{
    ENTER_STREAM(stream);
    struct launch_request request = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .dynamic_shared_bytes = shared_bytes,
                                     .parameters = parameters,
                                     .extra = extra};
    return submit(entry, stream, function, &request);
}

STREAM_ENTRY(cuLaunchKernelEx, _ptsz, (config, function, parameters, extra), const CUlaunchConfig *config,
             CUfunction function, void **parameters, void **extra)
{
    CUstream stream = config ? config->hStream : NULL;
    ENTER_STREAM(stream);
    REQUIRE(config && (config->numAttrs == 0 || config->attrs));
    struct launch_request request = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                     .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                     .dynamic_shared_bytes = config->sharedMemBytes,
                                     .attributes = config->attrs,
                                     .attribute_count = config->numAttrs,
                                     .parameters = parameters,
                                     .extra = extra};
    return submit(entry, stream, function, &request);
}

STREAM_ENTRY(cuLaunchCooperativeKernel, _ptsz,
             (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters),
             CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters)
{
    ENTER_STREAM(stream);
    struct launch_request request = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .dynamic_shared_bytes = shared_bytes,
                                     .cooperative = true,
                                     .parameters = parameters};
    return submit(entry, stream, function, &request);
}

/* --- one cooperative launch on several devices --------------------------------------------------------- */

static struct launch_request request_of(const CUDA_LAUNCH_PARAMS *parameters)
{
    return (struct launch_request){
        .grid = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ},
        .block = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ},
        .dynamic_shared_bytes = parameters->sharedMemBytes,
        .cooperative = true,
        .parameters = parameters->kernelParams,
    };
}

/* Each launch is for another device, in a stream made by the client. */
static CUresult check_each(const CUDA_LAUNCH_PARAMS *list, unsigned count, enum call call)
{
    unsigned devices = 0;
    for (unsigned i = 0; i < count; i++) {
        CUstream stream = list[i].hStream;
        REQUIRE(object_is(stream, OBJECT_STREAM));
        unsigned bit = 1u << stream->context->device->ordinal;
        REQUIRE(!(devices & bit));
        devices |= bit;
        struct launch_request request = request_of(&list[i]);
        TRY(launch_resolve(list[i].function, stream->context, call, &request.function));
        TRY(launch_check(&request));
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned count,
                                                      unsigned flags)
{
    ENTER(cuLaunchCooperativeKernelMultiDevice);
    REQUIRE(list && count && count <= MAX_DEVICES && (flags & ~3u) == 0);
    TRY(check_each(list, count, CALL_cuLaunchCooperativeKernelMultiDevice));
    for (unsigned i = 0; i < count; i++) {
        struct launch_request request = request_of(&list[i]);
        TRY(launch_resolve(list[i].function, list[i].hStream->context,
                           CALL_cuLaunchCooperativeKernelMultiDevice, &request.function));
        TRY(launch_submit(list[i].hStream, &request));
    }
    return CUDA_SUCCESS;
}

/* --- before CUDA 4: the function holds its block shape and shared memory ------------------------------- */

CUresult CUDAAPI cuFuncSetBlockShape(CUfunction handle, int x, int y, int z)
{
    ENTER_IN_CONTEXT(cuFuncSetBlockShape, context);
    struct CUfunc_st *function;
    TRY(launch_resolve(handle, context, CALL_cuFuncSetBlockShape, &function));
    REQUIRE(x > 0 && y > 0 && z > 0);
    function->legacy_block[0] = (uint32_t)x;
    function->legacy_block[1] = (uint32_t)y;
    function->legacy_block[2] = (uint32_t)z;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncSetSharedSize(CUfunction handle, unsigned bytes)
{
    ENTER_IN_CONTEXT(cuFuncSetSharedSize, context);
    struct CUfunc_st *function;
    TRY(launch_resolve(handle, context, CALL_cuFuncSetSharedSize, &function));
    function->legacy_shared_bytes = bytes;
    return CUDA_SUCCESS;
}

/* Parameters are taken and not looked at: kernels are not executed. */
static CUresult legacy_parameter(enum call call, CUfunction handle)
{
    struct CUctx_st *context;
    struct CUfunc_st *function;
    TRY(driver_enter_in_context(call, &context));
    return launch_resolve(handle, context, call, &function);
}

CUresult CUDAAPI cuParamSetSize(CUfunction handle, unsigned bytes)
{
    (void)bytes;
    return legacy_parameter(CALL_cuParamSetSize, handle);
}

CUresult CUDAAPI cuParamSeti(CUfunction handle, int offset, unsigned value)
{
    (void)offset, (void)value;
    return legacy_parameter(CALL_cuParamSeti, handle);
}

CUresult CUDAAPI cuParamSetf(CUfunction handle, int offset, float value)
{
    (void)offset, (void)value;
    return legacy_parameter(CALL_cuParamSetf, handle);
}

CUresult CUDAAPI cuParamSetv(CUfunction handle, int offset, void *value, unsigned bytes)
{
    (void)offset, (void)value, (void)bytes;
    return legacy_parameter(CALL_cuParamSetv, handle);
}

static CUresult launch_grid(const struct entry *entry, CUfunction handle, int width, int height,
                            CUstream stream)
{
    ENTER_STREAM(stream);
    struct CUfunc_st *function;
    TRY(launch_resolve(handle, stream->context, entry->call, &function));
    REQUIRE(width > 0 && height > 0);
    struct launch_request request = {
        .function = function,
        .grid = {(uint32_t)width, (uint32_t)height, 1},
        .block = {function->legacy_block[0], function->legacy_block[1], function->legacy_block[2]},
        .dynamic_shared_bytes = function->legacy_shared_bytes,
    };
    return launch_submit(stream, &request);
}

CUresult CUDAAPI cuLaunch(CUfunction function)
{
    static const struct entry entry = {CALL_cuLaunch, false};
    return launch_grid(&entry, function, 1, 1, NULL);
}

CUresult CUDAAPI cuLaunchGrid(CUfunction function, int width, int height)
{
    static const struct entry entry = {CALL_cuLaunchGrid, false};
    return launch_grid(&entry, function, width, height, NULL);
}

CUresult CUDAAPI cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    static const struct entry entry = {CALL_cuLaunchGridAsync, false};
    return launch_grid(&entry, function, width, height, stream);
}
