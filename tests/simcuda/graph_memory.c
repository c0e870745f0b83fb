/* Memory of allocation nodes. */
#include "graph_memory.h"
#include "memory.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct graph_allocation *allocations;
static size_t used_high[MAX_DEVICES], reserved_high[MAX_DEVICES];

/* --- figures of a device, under the lock --------------------------------------------------------------- */

static size_t bytes_on(int device, bool live_only)
{
    size_t bytes = 0;
    for (struct graph_allocation *allocation = allocations; allocation; allocation = allocation->next) {
        if (allocation->parameters.poolProps.location.id == device && (allocation->is_live || !live_only)) {
            bytes += allocation->parameters.bytesize;
        }
    }
    return bytes;
}

static void note_high(int device)
{
    size_t used = bytes_on(device, true), reserved = bytes_on(device, false);
    used_high[device] = used > used_high[device] ? used : used_high[device];
    reserved_high[device] = reserved > reserved_high[device] ? reserved : reserved_high[device];
}

/* --- describing nodes ---------------------------------------------------------------------------------- */

static CUresult check(const CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct device **device)
{
    REQUIRE(parameters && parameters->bytesize != 0);
    REQUIRE(parameters->poolProps.allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
    REQUIRE(parameters->poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
    REQUIRE(parameters->accessDescCount == 0 || parameters->accessDescs);
    *device = device_of(parameters->poolProps.location.id);
    return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void list(struct graph_allocation *allocation)
{
    pthread_mutex_lock(&lock);
    allocation->next = allocations;
    allocation->link = &allocations;
    if (allocations) {
        allocations->link = &allocation->next;
    }
    allocations = allocation;
    note_high(allocation->parameters.poolProps.location.id);
    pthread_mutex_unlock(&lock);
}

/* Takes over the memory at parameters->dptr, also when it fails. */
static CUresult describe(const CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct graph_work *work)
{
    size_t access_bytes = parameters->accessDescCount * sizeof(CUmemAccessDesc);
    struct graph_allocation *allocation = calloc(1, sizeof(*allocation) + access_bytes);
    if (!allocation) {
        memory_release(parameters->dptr, MEMORY_GRAPH);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    allocation->references = 1;
    allocation->parameters = *parameters;
    allocation->parameters.accessDescs = NULL;
    if (access_bytes) {
        allocation->parameters.accessDescs = memcpy(allocation + 1, parameters->accessDescs, access_bytes);
    }
    list(allocation);
    work->type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    work->allocation = allocation;
    return CUDA_SUCCESS;
}

CUresult graph_describe_allocation(CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct graph_work *work)
{
    struct device *device;
    TRY(check(parameters, &device));
    struct memory_range range = {.bytes = parameters->bytesize, .kind = MEMORY_GRAPH, .device = device};
    TRY(memory_allocate(&range));
    parameters->dptr = range.address;
    return describe(parameters, work);
}

CUresult graph_describe_captured_allocation(struct CUctx_st *context, CUdeviceptr address, size_t bytes,
                                            struct graph_work *work)
{
    CUDA_MEM_ALLOC_NODE_PARAMS parameters = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = context->device->ordinal}},
        .bytesize = bytes,
        .dptr = address,
    };
    return describe(&parameters, work);
}

CUresult graph_describe_free(CUdeviceptr address, struct graph_work *work)
{
    struct memory_range range;
    REQUIRE(memory_find(address, &range) && range.address == address);
    REQUIRE(range.kind == MEMORY_GRAPH || range.kind == MEMORY_ASYNC);
    work->type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    work->freed = address;
    return CUDA_SUCCESS;
}

void graph_memory_retain(struct graph_allocation *allocation)
{
    pthread_mutex_lock(&lock);
    allocation->references++;
    pthread_mutex_unlock(&lock);
}

void graph_memory_release(struct graph_allocation *allocation)
{
    pthread_mutex_lock(&lock);
    bool last = --allocation->references == 0;
    if (last) {
        *allocation->link = allocation->next;
        if (allocation->next) {
            allocation->next->link = allocation->link;
        }
    }
    pthread_mutex_unlock(&lock);
    if (last) {
        memory_release(allocation->parameters.dptr, MEMORY_GRAPH);
        free(allocation);
    }
}

/* --- launching, under the lock ------------------------------------------------------------------------- */

static struct graph_allocation *find(CUdeviceptr address)
{
    struct graph_allocation *allocation = allocations;
    while (allocation && allocation->parameters.dptr != address) {
        allocation = allocation->next;
    }
    return allocation;
}

static bool any_live(CUgraph graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_work *work = &graph->nodes[i]->work;
        if (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC
                ? work->allocation->is_live
                : work->type == CU_GRAPH_NODE_TYPE_GRAPH && any_live(work->child)) {
            return true;
        }
    }
    return false;
}

static void run(CUgraph graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_work *work = &graph->order[i]->work;
        struct graph_allocation *freed;
        if (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
            work->allocation->is_live = true;
            note_high(work->allocation->parameters.poolProps.location.id);
        } else if (work->type == CU_GRAPH_NODE_TYPE_MEM_FREE && (freed = find(work->freed)) != NULL) {
            freed->is_live = false;
        } else if (work->type == CU_GRAPH_NODE_TYPE_GRAPH) {
            run(work->child);
        }
    }
}

CUresult graph_memory_launch(CUgraph graph, bool free_first)
{
    if (!graph_contains(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC) &&
        !graph_contains(graph, CU_GRAPH_NODE_TYPE_MEM_FREE)) {
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    CUresult result = !free_first && any_live(graph) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        run(graph);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult graph_memory_client_frees(CUdeviceptr address)
{
    pthread_mutex_lock(&lock);
    struct graph_allocation *allocation = find(address);
    bool was_live = allocation && allocation->is_live;
    if (was_live) {
        allocation->is_live = false;
    }
    pthread_mutex_unlock(&lock);
    return was_live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* --- exported ------------------------------------------------------------------------------------------ */

/* What is reserved belongs to nodes that exist: there is nothing to give back. */
CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice ordinal)
{
    ENTER(cuDeviceGraphMemTrim);
    REQUIRE_DEVICE(device, ordinal);
    (void)device;
    return CUDA_SUCCESS;
}

static CUresult figure(int device, CUgraphMem_attribute attribute, cuuint64_t *value)
{
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        *value = bytes_on(device, true);
        return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        *value = used_high[device];
        return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        *value = bytes_on(device, false);
        return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        *value = reserved_high[device];
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void *value)
{
    ENTER(cuDeviceGetGraphMemAttribute);
    REQUIRE(value);
    REQUIRE_DEVICE(device, ordinal);
    pthread_mutex_lock(&lock);
    CUresult result = figure(device->ordinal, attribute, value);
    pthread_mutex_unlock(&lock);
    return result;
}

/* High-water marks can be set, to zero only. */
CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void *value)
{
    ENTER(cuDeviceSetGraphMemAttribute);
    REQUIRE(value && *(const cuuint64_t *)value == 0);
    REQUIRE_DEVICE(device, ordinal);
    size_t *high = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH       ? used_high
                   : attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH ? reserved_high
                                                                      : NULL;
    REQUIRE(high);
    pthread_mutex_lock(&lock);
    high[device->ordinal] = 0;
    note_high(device->ordinal);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}
