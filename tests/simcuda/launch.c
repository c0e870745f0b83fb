/* What makes a launch acceptable. Error codes that no document states are marked; see README.md. */
#include "launch.h"

#include "capture.h"
#include "event.h"
#include "function.h"
#include "occupancy.h"
#include "require.h"
#include "stream.h"

CUresult launch_resolve(CUfunction handle, struct CUctx_st *context, enum call call,
                        struct CUfunc_st **function)
{
    if (object_is(handle, OBJECT_FUNCTION)) {
        *function = handle;
        return CUDA_SUCCESS;
    }
    if (object_is(handle, OBJECT_KERNEL)) {
        return kernel_function((CUkernel)handle, context->root, function);
    }
    return object_refuse(handle, call);
}

/* --- attributes ---------------------------------------------------------------------------------------- */

static void kernel_cluster(struct launch_request *request)
{
    const struct CUfunc_st *function = request->function;
    for (int i = 0; i < 3; i++) {
        int required = function_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + i);
        request->cluster[i] = required > 0 ? (uint32_t)required : 1;
    }
}

static uint32_t cluster_blocks(const struct launch_request *request)
{
    return request->cluster[0] * request->cluster[1] * request->cluster[2];
}

/* A cluster given at launch must be the one that the kernel was compiled for, if there is one (unverified
 * code). */
static CUresult apply_cluster(struct launch_request *request, const CUlaunchAttributeValue *value)
{
    const uint32_t given[3] = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    bool compiled = (request->function->code->info.valid & CUBIN_HAS_CLUSTER) != 0;
    for (int i = 0; i < 3; i++) {
        REQUIRE(given[i] > 0);
        if (compiled && given[i] != request->cluster[i]) {
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        }
        request->cluster[i] = given[i];
    }
    return CUDA_SUCCESS;
}

static CUresult apply_attributes(struct launch_request *request)
{
    for (unsigned i = 0; i < request->attribute_count; i++) {
        const CUlaunchAttribute *attribute = &request->attributes[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            TRY(apply_cluster(request, &attribute->value));
        } else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
            request->cooperative = attribute->value.cooperative != 0;
        } else {
            REQUIRE((unsigned)attribute->id < CU_LAUNCH_ATTRIBUTE_MAX);
        }
    }
    return CUDA_SUCCESS;
}

/* --- limits -------------------------------------------------------------------------------------------- */

static CUresult check_shape(const struct launch_request *request)
{
    const uint32_t *grid = request->grid, *block = request->block;
    REQUIRE(grid[0] >= 1 && grid[0] <= MAX_GRID_X);
    REQUIRE(grid[1] >= 1 && grid[1] <= MAX_GRID_YZ && grid[2] >= 1 && grid[2] <= MAX_GRID_YZ);
    REQUIRE(block[0] >= 1 && block[0] <= MAX_BLOCK_X && block[1] >= 1 && block[1] <= MAX_BLOCK_Y);
    REQUIRE(block[2] >= 1 && block[2] <= MAX_BLOCK_Z);
    REQUIRE(block[0] * block[1] * block[2] <= MAX_THREADS_PER_BLOCK);
    return CUDA_SUCCESS;
}

static CUresult check_resources(const struct launch_request *request)
{
    const struct CUfunc_st *function = request->function;
    const struct kernel_code *code = function->code;
    int threads = (int)(request->block[0] * request->block[1] * request->block[2]);
    if (threads > code->register_threads) {
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    REQUIRE(threads <= code->bound_threads); /* unverified code */
    if (code->info.valid & CUBIN_HAS_REQUIRED_BLOCK) {
        for (int i = 0; i < 3; i++) {
            REQUIRE(request->block[i] == code->info.required_block[i]); /* unverified code */
        }
    }
    int allowed = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    REQUIRE(request->dynamic_shared_bytes <= (uint32_t)allowed);
    return CUDA_SUCCESS;
}

int launch_cluster_limit(const struct CUfunc_st *function)
{
    const struct device_capability *sm = function->context->device->sm;
    bool wide = function_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) != 0;
    int limit = wide ? sm->cluster_non_portable : sm->cluster;
    const struct cubin_kernel *info = &function->code->info;
    if ((info->valid & CUBIN_HAS_MAX_CLUSTER_RANK) && info->max_cluster_rank < (uint32_t)limit) {
        limit = (int)info->max_cluster_rank;
    }
    return limit;
}

static CUresult check_cluster(const struct launch_request *request, int threads)
{
    const struct CUfunc_st *function = request->function;
    uint32_t blocks = cluster_blocks(request);
    if (blocks == 1) {
        return CUDA_SUCCESS;
    }
    if (function->context->device->sm->cluster == 0) {
        return CUDA_ERROR_NOT_SUPPORTED; /* unverified code */
    }
    for (int i = 0; i < 3; i++) {
        if (request->cluster[i] > MAX_GRID_YZ || request->grid[i] % request->cluster[i] != 0) {
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        }
    }
    if (blocks > (uint32_t)launch_cluster_limit(function) ||
        occupancy_clusters(function, threads, request->dynamic_shared_bytes, blocks) == 0) {
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    return CUDA_SUCCESS;
}

/* All blocks of a cooperative launch are resident at once. */
static CUresult check_cooperative(const struct launch_request *request, int threads)
{
    if (!request->cooperative) {
        return CUDA_SUCCESS;
    }
    const struct CUfunc_st *function = request->function;
    uint32_t shared_bytes = request->dynamic_shared_bytes, cluster = cluster_blocks(request);
    uint64_t blocks = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    const struct CUctx_st *context = request->context ? request->context : function->context;
    uint64_t resident =
        cluster > 1 ? (uint64_t)occupancy_clusters(function, threads, shared_bytes, cluster) * cluster
                    : (uint64_t)occupancy_blocks(function, threads, shared_bytes) * (uint64_t)context->sms;
    return blocks <= resident ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult launch_check(struct launch_request *request)
{
    kernel_cluster(request);
    TRY(apply_attributes(request));
    TRY(check_shape(request));
    TRY(check_resources(request));
    int threads = (int)(request->block[0] * request->block[1] * request->block[2]);
    TRY(check_cluster(request, threads));
    return check_cooperative(request, threads);
}

/* --- accepting ----------------------------------------------------------------------------------------- */

/* Events that a launch attribute wants recorded. */
static CUresult record_events(struct CUstream_st *stream, const struct launch_request *request)
{
    for (unsigned i = 0; i < request->attribute_count; i++) {
        const CUlaunchAttribute *attribute = &request->attributes[i];
        CUevent event = attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
                            ? attribute->value.programmaticEvent.event
                        : attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
                            ? attribute->value.launchCompletionEvent.event
                            : NULL;
        if (event) {
            REQUIRE(object_is(event, OBJECT_EVENT) && (event->flags & CU_EVENT_DISABLE_TIMING));
            TRY(event_submit_record(event, stream, 0));
        }
    }
    return CUDA_SUCCESS;
}

static CUresult record_in_capture(struct CUstream_st *stream, const struct launch_request *request)
{
    struct operation operation = {.kind = OPERATION_LAUNCH, .launch = *request};
    return capture_record(stream, &operation);
}

CUresult launch_submit(struct CUstream_st *stream, struct launch_request *request)
{
    if (request->function->context != stream->context->root) {
        return CUDA_ERROR_INVALID_HANDLE; /* unverified code */
    }
    request->context = stream->context;
    REQUIRE(!request->parameters || !request->extra);
    TRY(launch_check(request));
    if (atomic_load_explicit(&stream->capture, memory_order_acquire)) {
        return record_in_capture(stream, request);
    }
    if (stream->is_legacy &&
        atomic_load_explicit(&stream->context->capturing_blocking, memory_order_relaxed)) {
        return capture_refuse_legacy(stream);
    }
    ledger_count_launch(request, 1, false);
    function_note_launch(request->function);
    return record_events(stream, request);
}
