/* Kernel nodes: their parameters, the values of the kernel's arguments, and their attributes. */
#include "graph.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

/* --- arguments ----------------------------------------------------------------------------------------- */

static size_t arguments_bytes(const struct cubin_kernel *info)
{
    return info->parameters_count * sizeof(void *) + info->parameter_bytes;
}

/* The values packed into one buffer, as `extra` gives them; NULL if `extra` is no such list. */
static const char *packed_buffer(void **extra, size_t *bytes)
{
    const char *buffer = NULL;
    *bytes = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = extra[i + 1];
        } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            *bytes = *(const size_t *)extra[i + 1];
        } else {
            return NULL;
        }
    }
    return buffer;
}

/* Makes `request->parameters` point to a copy of the values, in the one form whichever way they were given.
 */
static CUresult take_arguments(struct graph_kernel *kernel)
{
    struct launch_request *request = &kernel->request;
    const struct cubin_kernel *info = &request->function->code->info;
    void **given = request->parameters, **extra = request->extra;
    size_t packed_bytes = 0;
    const char *packed = !given && extra ? packed_buffer(extra, &packed_bytes) : NULL;
    request->parameters = NULL;
    request->extra = NULL;
    if (!(info->valid & CUBIN_HAS_PARAMETERS) || info->parameters_count == 0 || (!given && !packed)) {
        return CUDA_SUCCESS;
    }
    kernel->arguments = calloc(1, arguments_bytes(info));
    if (!kernel->arguments) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    void **pointers = kernel->arguments;
    char *values = (char *)(pointers + info->parameters_count);
    for (uint32_t i = 0; i < info->parameters_count; i++) {
        const struct cubin_parameter *parameter = &info->parameters[i];
        pointers[i] = values + parameter->offset;
        if (given) {
            memcpy(pointers[i], given[i], parameter->bytes);
        } else if (parameter->offset + parameter->bytes <= packed_bytes) {
            memcpy(pointers[i], packed + parameter->offset, parameter->bytes);
        }
    }
    request->parameters = pointers;
    return CUDA_SUCCESS;
}

/* --- attributes ---------------------------------------------------------------------------------------- */

const CUlaunchAttribute *graph_kernel_attribute(const struct graph_kernel *kernel, CUlaunchAttributeID id)
{
    for (unsigned i = 0; i < kernel->request.attribute_count; i++) {
        if (kernel->attributes[i].id == id) {
            return &kernel->attributes[i];
        }
    }
    return NULL;
}

static CUlaunchAttribute *attribute_slot(struct graph_kernel *kernel, CUlaunchAttributeID id)
{
    CUlaunchAttribute *existing = (CUlaunchAttribute *)graph_kernel_attribute(kernel, id);
    if (existing) {
        return existing;
    }
    unsigned count = kernel->request.attribute_count;
    CUlaunchAttribute *attributes = realloc(kernel->attributes, (count + 1) * sizeof(*attributes));
    if (!attributes) {
        return NULL;
    }
    memset(&attributes[count], 0, sizeof(*attributes));
    attributes[count].id = id;
    kernel->attributes = attributes;
    kernel->request.attributes = attributes;
    kernel->request.attribute_count = count + 1;
    return &attributes[count];
}

/* Of the launch attributes those that concern the stream are not kept by a node. */
bool graph_kernel_keeps_attribute(CUlaunchAttributeID id)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return true;
    default:
        return false;
    }
}

static CUresult put_attribute(struct graph_kernel *kernel, CUlaunchAttributeID id,
                              const CUlaunchAttributeValue *value)
{
    CUlaunchAttribute *slot = attribute_slot(kernel, id);
    if (!slot) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    slot->value = *value;
    return CUDA_SUCCESS;
}

CUresult graph_kernel_set_attribute(struct graph_kernel *kernel, CUlaunchAttributeID id,
                                    const CUlaunchAttributeValue *value)
{
    REQUIRE(graph_kernel_keeps_attribute(id));
    TRY(put_attribute(kernel, id, value));
    return launch_check(&kernel->request);
}

CUresult graph_kernel_copy_attributes(const struct graph_kernel *from, struct graph_kernel *to)
{
    for (unsigned i = 0; i < from->request.attribute_count; i++) {
        TRY(put_attribute(to, from->attributes[i].id, &from->attributes[i].value));
    }
    return launch_check(&to->request);
}

/* `given` are the attributes of the launch that the node stands for. */
static CUresult take_attributes(struct graph_kernel *kernel)
{
    const CUlaunchAttribute *given = kernel->request.attributes;
    unsigned count = kernel->request.attribute_count;
    bool cooperative = kernel->request.cooperative;
    kernel->request.attributes = NULL;
    kernel->request.attribute_count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (graph_kernel_keeps_attribute(given[i].id)) {
            TRY(put_attribute(kernel, given[i].id, &given[i].value));
        }
    }
    CUlaunchAttributeValue yes = {.cooperative = 1};
    return cooperative ? put_attribute(kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &yes) : CUDA_SUCCESS;
}

/* --- nodes --------------------------------------------------------------------------------------------- */

/* Makes everything that the request points to the node's own. */
static CUresult own(struct graph_kernel *kernel)
{
    CUresult result = take_arguments(kernel);
    if (result == CUDA_SUCCESS) {
        result = take_attributes(kernel);
    }
    if (result == CUDA_SUCCESS) {
        result = launch_check(&kernel->request);
    }
    if (result != CUDA_SUCCESS) {
        graph_kernel_free(kernel);
    }
    return result;
}

CUresult graph_describe_launch(const struct launch_request *request, struct graph_work *work)
{
    work->type = CU_GRAPH_NODE_TYPE_KERNEL;
    work->kernel = (struct graph_kernel){.request = *request, .by_kernel = request->function->kernel != NULL};
    return own(&work->kernel);
}

static CUresult resolve(enum call call, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters,
                        struct CUfunc_st **function)
{
    CUcontext context = parameters->func ? NULL : parameters->ctx;
    REQUIRE(parameters->func || parameters->kern);
    if (!context) {
        context = context_current();
    }
    if (!context && !parameters->func) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUfunction handle = parameters->func ? parameters->func : (CUfunction)parameters->kern;
    return launch_resolve(handle, context, call, function);
}

CUresult graph_describe_kernel(enum call call, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters,
                               struct graph_work *work)
{
    REQUIRE(parameters && !(parameters->kernelParams && parameters->extra));
    struct launch_request request = {
        .grid = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ},
        .block = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ},
        .dynamic_shared_bytes = parameters->sharedMemBytes,
        .parameters = parameters->kernelParams,
        .extra = parameters->extra,
    };
    TRY(resolve(call, parameters, &request.function));
    TRY(graph_describe_launch(&request, work));
    work->kernel.by_kernel = parameters->func == NULL || object_is(parameters->func, OBJECT_KERNEL);
    return CUDA_SUCCESS;
}

CUresult graph_describe_kernel_v1(enum call call, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters,
                                  struct graph_work *work)
{
    REQUIRE(parameters);
    CUDA_KERNEL_NODE_PARAMS_v2 all = {
        .func = parameters->func,
        .gridDimX = parameters->gridDimX,
        .gridDimY = parameters->gridDimY,
        .gridDimZ = parameters->gridDimZ,
        .blockDimX = parameters->blockDimX,
        .blockDimY = parameters->blockDimY,
        .blockDimZ = parameters->blockDimZ,
        .sharedMemBytes = parameters->sharedMemBytes,
        .kernelParams = parameters->kernelParams,
        .extra = parameters->extra,
    };
    return graph_describe_kernel(call, &all, work);
}

void graph_kernel_parameters(const struct graph_kernel *kernel, CUDA_KERNEL_NODE_PARAMS_v2 *out)
{
    const struct launch_request *request = &kernel->request;
    *out = (CUDA_KERNEL_NODE_PARAMS_v2){
        .func = kernel->by_kernel ? NULL : request->function,
        .kern = kernel->by_kernel ? request->function->kernel : NULL,
        .ctx = request->function->context,
        .gridDimX = request->grid[0],
        .gridDimY = request->grid[1],
        .gridDimZ = request->grid[2],
        .blockDimX = request->block[0],
        .blockDimY = request->block[1],
        .blockDimZ = request->block[2],
        .sharedMemBytes = request->dynamic_shared_bytes,
        .kernelParams = request->parameters,
    };
}

CUresult graph_kernel_copy(const struct graph_kernel *from, struct graph_kernel *to)
{
    *to = *from;
    to->arguments = NULL;
    to->attributes = NULL;
    return own(to);
}

void graph_kernel_free(struct graph_kernel *kernel)
{
    free(kernel->arguments);
    free(kernel->attributes);
}
