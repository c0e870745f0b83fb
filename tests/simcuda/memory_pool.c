/* Stream-ordered allocation, and the pools behind it. Memory is there as soon as it is asked for; it is freed
 * when the stream gets there. */
#include "memory_pool.h"

#include "memory.h"
#include "require.h"
#include "stream.h"

static struct pool pool_pool = POOL(struct CUmemPoolHandle_st);
static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;

static struct CUmemPoolHandle_st *pool_make(struct device *device)
{
    struct CUmemPoolHandle_st *pool = pool_take(&pool_pool, OBJECT_POOL);
    if (pool) {
        pool->device = device;
        for (int i = 0; i < 3; i++) {
            atomic_store(&pool->reuse[i], 1);
        }
    }
    return pool;
}

struct CUmemPoolHandle_st *memory_pool_default(struct device *device)
{
    pthread_mutex_lock(&default_lock);
    if (!device->default_pool) {
        device->default_pool = pool_make(device);
        if (device->default_pool) {
            device->default_pool->is_default = true;
        }
        device->current_pool = device->default_pool;
    }
    pthread_mutex_unlock(&default_lock);
    return device->default_pool;
}

static struct CUmemPoolHandle_st *current_pool(struct device *device)
{
    struct CUmemPoolHandle_st *made = memory_pool_default(device);
    pthread_mutex_lock(&default_lock);
    struct CUmemPoolHandle_st *pool = made ? device->current_pool : NULL;
    pthread_mutex_unlock(&default_lock);
    return pool;
}

void memory_pool_took(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
    uint64_t used = atomic_fetch_add(&pool->used_bytes, bytes) + bytes;
    uint64_t high = atomic_load(&pool->used_high_bytes);
    while (high < used && !atomic_compare_exchange_weak(&pool->used_high_bytes, &high, used)) {
    }
}

void memory_pool_gave(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
    atomic_fetch_sub(&pool->used_bytes, bytes);
}

/* --- exported: allocation ------------------------------------------------------------------------------ */

static CUresult allocate(struct CUstream_st *stream, struct CUmemPoolHandle_st *pool, size_t bytes,
                         CUdeviceptr *address)
{
    REQUIRE(address && bytes);
    struct memory_range range = {.bytes = bytes,
                                 .kind = atomic_load(&stream->capture) ? MEMORY_GRAPH : MEMORY_ASYNC,
                                 .context = stream->context,
                                 .device = pool->device,
                                 .pool = pool};
    TRY(memory_allocate(&range));
    struct operation operation = {
        .kind = OPERATION_ALLOCATE,
        .memory = {.address = range.address, .bytes = bytes, .pool = pool},
    };
    CUresult result = stream_submit(stream, &operation);
    if (result != CUDA_SUCCESS) {
        memory_release(range.address, range.kind);
        return result;
    }
    *address = range.address;
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuMemAllocAsync, _ptsz, (address, bytes, stream), CUdeviceptr *address, size_t bytes,
             CUstream stream)
{
    ENTER_STREAM(stream);
    struct CUmemPoolHandle_st *pool = current_pool(stream->context->device);
    return pool ? allocate(stream, pool, bytes, address) : CUDA_ERROR_OUT_OF_MEMORY;
}

STREAM_ENTRY(cuMemAllocFromPoolAsync, _ptsz, (address, bytes, pool, stream), CUdeviceptr *address,
             size_t bytes, CUmemoryPool pool, CUstream stream)
{
    ENTER_STREAM(stream);
    REQUIRE(object_is(pool, OBJECT_POOL));
    return allocate(stream, pool, bytes, address);
}

STREAM_ENTRY(cuMemFreeAsync, _ptsz, (address, stream), CUdeviceptr address, CUstream stream)
{
    ENTER_STREAM(stream);
    struct memory_range range;
    REQUIRE(memory_find(address, &range) && range.address == address);
    REQUIRE(range.kind & (MEMORY_ASYNC | MEMORY_DEVICE | MEMORY_MANAGED | MEMORY_GRAPH));
    struct operation operation = {.kind = OPERATION_FREE,
                                  .memory = {.address = address, .bytes = range.bytes, .pool = range.pool}};
    return stream_submit(stream, &operation);
}

/* --- exported: pools ----------------------------------------------------------------------------------- */

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    ENTER(cuMemPoolCreate);
    REQUIRE(pool && properties && properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    REQUIRE_DEVICE(device, properties->location.id);
    *pool = pool_make(device);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool)
{
    ENTER(cuMemPoolDestroy);
    REQUIRE(object_is(pool, OBJECT_POOL) && !pool->is_default);
    pthread_mutex_lock(&default_lock);
    if (pool->device->current_pool == pool) {
        pool->device->current_pool = pool->device->default_pool;
    }
    pthread_mutex_unlock(&default_lock);
    pool_give(&pool_pool, pool);
    return CUDA_SUCCESS;
}

static CUresult default_of(CUmemoryPool *pool, CUdevice ordinal)
{
    REQUIRE(pool);
    REQUIRE_DEVICE(device, ordinal);
    *pool = memory_pool_default(device);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult current_of(CUmemoryPool *pool, CUdevice ordinal)
{
    REQUIRE(pool);
    REQUIRE_DEVICE(device, ordinal);
    *pool = current_pool(device);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult set_current(CUdevice ordinal, CUmemoryPool pool)
{
    REQUIRE_DEVICE(device, ordinal);
    REQUIRE(object_is(pool, OBJECT_POOL) && pool->device == device && memory_pool_default(device));
    pthread_mutex_lock(&default_lock);
    device->current_pool = pool;
    pthread_mutex_unlock(&default_lock);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice ordinal)
{
    ENTER(cuDeviceGetDefaultMemPool);
    return default_of(pool, ordinal);
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice ordinal)
{
    ENTER(cuDeviceGetMemPool);
    return current_of(pool, ordinal);
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool)
{
    ENTER(cuDeviceSetMemPool);
    return set_current(ordinal, pool);
}

/* Pools of host memory are not simulated. */
static CUresult location_device(const CUmemLocation *location, CUmemAllocationType type, CUdevice *ordinal)
{
    REQUIRE(location);
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || type != CU_MEM_ALLOCATION_TYPE_PINNED) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    *ordinal = location->id;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    ENTER(cuMemGetDefaultMemPool);
    CUdevice ordinal;
    TRY(location_device(location, type, &ordinal));
    return default_of(pool, ordinal);
}

CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    ENTER(cuMemGetMemPool);
    CUdevice ordinal;
    TRY(location_device(location, type, &ordinal));
    return current_of(pool, ordinal);
}

CUresult CUDAAPI cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    ENTER(cuMemSetMemPool);
    CUdevice ordinal;
    TRY(location_device(location, type, &ordinal));
    return set_current(ordinal, pool);
}

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t kept_bytes)
{
    ENTER(cuMemPoolTrimTo);
    (void)kept_bytes;
    REQUIRE(object_is(pool, OBJECT_POOL));
    return CUDA_SUCCESS;
}

/* --- exported: properties of pools --------------------------------------------------------------------- */

/* Nothing is reserved beyond what is used. */
static _Atomic uint64_t *counter_of(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    switch ((int)attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return &pool->release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return &pool->used_bytes;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return &pool->used_high_bytes;
    default:
        return NULL;
    }
}

static _Atomic int *switch_of(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    bool is_switch = attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
                     attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    return is_switch ? &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] : NULL;
}

CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    ENTER(cuMemPoolGetAttribute);
    REQUIRE(object_is(pool, OBJECT_POOL) && value);
    _Atomic uint64_t *counter = counter_of(pool, attribute);
    _Atomic int *toggle = switch_of(pool, attribute);
    REQUIRE(counter || toggle);
    if (counter) {
        *(cuuint64_t *)value = atomic_load(counter);
    } else {
        *(int *)value = atomic_load(toggle);
    }
    return CUDA_SUCCESS;
}

/* High marks can be set back to 0, current figures cannot be set. */
CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    ENTER(cuMemPoolSetAttribute);
    REQUIRE(object_is(pool, OBJECT_POOL) && value);
    _Atomic int *toggle = switch_of(pool, attribute);
    if (toggle) {
        atomic_store(toggle, *(int *)value);
        return CUDA_SUCCESS;
    }
    uint64_t given = *(cuuint64_t *)value;
    bool threshold = attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    bool high = attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    REQUIRE(threshold || (high && given == 0));
    atomic_store(counter_of(pool, attribute), threshold ? given : atomic_load(&pool->used_bytes));
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count)
{
    ENTER(cuMemPoolSetAccess);
    REQUIRE(object_is(pool, OBJECT_POOL) && list && count);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE);
        REQUIRE_DEVICE(device, list[i].location.id);
        uint32_t bit = 1u << device->ordinal;
        if (list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
            atomic_fetch_or(&pool->peers, bit);
        } else {
            atomic_fetch_and(&pool->peers, ~bit);
        }
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    ENTER(cuMemPoolGetAccess);
    REQUIRE(flags && object_is(pool, OBJECT_POOL) && location);
    REQUIRE(location->type == CU_MEM_LOCATION_TYPE_DEVICE);
    REQUIRE_DEVICE(device, location->id);
    bool allowed = device == pool->device || atomic_load(&pool->peers) >> device->ordinal & 1;
    *flags = allowed ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}
