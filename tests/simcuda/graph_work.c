/* What the nodes of a graph do, other than running kernels: taking over the parameters that the API is given,
 * copying and freeing them. */
#include "event.h"
#include "graph.h"
#include "graph_memory.h"
#include "memory.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

/* --- copies, fills, host functions, events ------------------------------------------------------------- */

/* NULL stands for the current context. */
static CUresult choose_context(CUcontext given, CUcontext *context)
{
    if (!given) {
        return context_require_current(context);
    }
    *context = given;
    return object_is(given, OBJECT_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult graph_describe_copy(const CUDA_MEMCPY3D *parameters, CUcontext context, struct graph_work *work)
{
    REQUIRE(parameters);
    work->type = CU_GRAPH_NODE_TYPE_MEMCPY;
    work->copy.parameters = *parameters;
    TRY(choose_context(context, &work->copy.context));
    return memory_check_copy(parameters);
}

CUresult graph_describe_fill(const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context,
                             struct graph_work *work)
{
    REQUIRE(parameters);
    work->type = CU_GRAPH_NODE_TYPE_MEMSET;
    work->fill = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = parameters->dst,
                                              .pitch = parameters->pitch,
                                              .value = parameters->value,
                                              .elementSize = parameters->elementSize,
                                              .width = parameters->width,
                                              .height = parameters->height};
    TRY(choose_context(context, &work->fill.ctx));
    return memory_check_fill(parameters);
}

CUresult graph_describe_host(CUhostFn function, void *data, struct graph_work *work)
{
    REQUIRE(function);
    work->type = CU_GRAPH_NODE_TYPE_HOST;
    work->host = (CUDA_HOST_NODE_PARAMS_v2){.fn = function, .userData = data};
    return CUDA_SUCCESS;
}

CUresult graph_describe_event(enum call call, CUgraphNodeType type, CUevent event, struct graph_work *work)
{
    if (!object_is(event, OBJECT_EVENT)) {
        return object_refuse(event, call);
    }
    work->type = type;
    work->event = event;
    return CUDA_SUCCESS;
}

/* --- child graphs -------------------------------------------------------------------------------------- */

static bool can_be_child(CUgraph graph)
{
    return !graph_contains(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC) &&
           !graph_contains(graph, CU_GRAPH_NODE_TYPE_MEM_FREE) &&
           !graph_contains(graph, CU_GRAPH_NODE_TYPE_CONDITIONAL);
}

CUresult graph_describe_child(enum call call, CUgraph child, struct graph_work *work)
{
    if (!object_is(child, OBJECT_GRAPH)) {
        return graph_refuse(child, call);
    }
    if (!can_be_child(child)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    work->type = CU_GRAPH_NODE_TYPE_GRAPH;
    TRY(graph_copy(child, &work->child));
    work->child->is_owned = true;
    return CUDA_SUCCESS;
}

/* The client's graph itself becomes the child. */
static CUresult adopt_child(enum call call, CUgraph child, struct graph_work *work)
{
    if (!object_is(child, OBJECT_GRAPH)) {
        return graph_refuse(child, call);
    }
    REQUIRE(!child->is_owned && !child->is_capturing);
    child->is_owned = true;
    work->type = CU_GRAPH_NODE_TYPE_GRAPH;
    work->child = child;
    return CUDA_SUCCESS;
}

/* --- stream memory operations -------------------------------------------------------------------------- */

static CUresult copy_words(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *from, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *to)
{
    size_t bytes = from->count * sizeof(*from->paramArray);
    *to = *from;
    to->paramArray = malloc(bytes);
    if (!to->paramArray) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(to->paramArray, from->paramArray, bytes);
    return CUDA_SUCCESS;
}

#define MAX_WORDS 256 /* as for cuStreamBatchMemOp */

CUresult graph_describe_words(const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters, struct graph_work *work)
{
    REQUIRE(parameters && parameters->count != 0 && parameters->count <= MAX_WORDS && parameters->paramArray);
    REQUIRE(parameters->flags == 0);
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 given = {
        .ctx = parameters->ctx, .count = parameters->count, .paramArray = parameters->paramArray};
    TRY(choose_context(parameters->ctx, &given.ctx));
    work->type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    return copy_words(&given, &work->words);
}

/* --- conditional nodes --------------------------------------------------------------------------------- */

static void conditional_free(struct graph_conditional *conditional)
{
    for (unsigned i = 0; conditional->bodies && i < conditional->bodies_count; i++) {
        graph_free(conditional->bodies[i]);
    }
    free(conditional->bodies);
}

static bool bodies_make(struct graph_conditional *conditional)
{
    conditional->bodies = calloc(conditional->bodies_count, sizeof(CUgraph));
    for (unsigned i = 0; conditional->bodies && i < conditional->bodies_count; i++) {
        conditional->bodies[i] = graph_make();
        if (!conditional->bodies[i]) {
            return false;
        }
        conditional->bodies[i]->is_owned = true;
    }
    return conditional->bodies != NULL;
}

/* if: one body or two (else); while: one; switch: any number */
static bool size_fits(CUgraphConditionalNodeType type, unsigned size)
{
    switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
        return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
        return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
        return size != 0;
    }
    return false;
}

static CUresult describe_conditional(CUDA_CONDITIONAL_NODE_PARAMS *parameters, struct graph_work *work)
{
    REQUIRE(parameters->handle != 0 && size_fits(parameters->type, parameters->size));
    work->type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    work->conditional = (struct graph_conditional){
        .handle = parameters->handle, .type = parameters->type, .bodies_count = parameters->size};
    TRY(choose_context(parameters->ctx, &work->conditional.context));
    if (!bodies_make(&work->conditional)) {
        conditional_free(&work->conditional);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    parameters->phGraph_out = work->conditional.bodies;
    return CUDA_SUCCESS;
}

static CUresult conditional_copy(const struct graph_conditional *from, struct graph_conditional *to)
{
    CUresult result = CUDA_SUCCESS;
    *to = *from;
    to->bodies = calloc(from->bodies_count, sizeof(CUgraph));
    if (!to->bodies) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (unsigned i = 0; i < from->bodies_count && result == CUDA_SUCCESS; i++) {
        result = graph_copy(from->bodies[i], &to->bodies[i]);
        if (result == CUDA_SUCCESS) {
            to->bodies[i]->is_owned = true;
        }
    }
    if (result != CUDA_SUCCESS) {
        conditional_free(to);
    }
    return result;
}

/* --- any kind ------------------------------------------------------------------------------------------ */

CUresult graph_describe(enum call call, CUgraphNodeParams *parameters, struct graph_work *work)
{
    REQUIRE(parameters);
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return graph_describe_kernel(call, (const CUDA_KERNEL_NODE_PARAMS_v2 *)&parameters->kernel, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return graph_describe_copy(&parameters->memcpy.copyParams, parameters->memcpy.copyCtx, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return graph_describe_fill((const CUDA_MEMSET_NODE_PARAMS *)&parameters->memset,
                                   parameters->memset.ctx, work);
    case CU_GRAPH_NODE_TYPE_HOST:
        return graph_describe_host(parameters->host.fn, parameters->host.userData, work);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return parameters->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
                   ? adopt_child(call, parameters->graph.graph, work)
                   : graph_describe_child(call, parameters->graph.graph, work);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        work->type = CU_GRAPH_NODE_TYPE_EMPTY;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return graph_describe_event(call, parameters->type, parameters->eventWait.event, work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return graph_describe_event(call, parameters->type, parameters->eventRecord.event, work);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return graph_describe_allocation((CUDA_MEM_ALLOC_NODE_PARAMS *)&parameters->alloc, work);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return graph_describe_free(parameters->free.dptr, work);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return graph_describe_words((const CUDA_BATCH_MEM_OP_NODE_PARAMS *)&parameters->memOp, work);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return describe_conditional(&parameters->conditional, work);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult graph_work_copy(const struct graph_work *from, struct graph_work *to)
{
    CUresult result = CUDA_SUCCESS;
    struct graph_work copy = *from;
    switch (from->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        result = graph_kernel_copy(&from->kernel, &copy.kernel);
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        result = graph_copy(from->child, &copy.child);
        if (result == CUDA_SUCCESS) {
            copy.child->is_owned = true;
        }
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        graph_memory_retain(copy.allocation);
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        result = copy_words(&from->words, &copy.words);
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        result = conditional_copy(&from->conditional, &copy.conditional);
        break;
    default:
        break;
    }
    if (result == CUDA_SUCCESS) {
        *to = copy;
    }
    return result;
}

void graph_work_free(struct graph_work *work)
{
    switch (work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        graph_kernel_free(&work->kernel);
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        graph_free(work->child);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        graph_memory_release(work->allocation);
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        free(work->words.paramArray);
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        conditional_free(&work->conditional);
        break;
    default:
        break;
    }
}
