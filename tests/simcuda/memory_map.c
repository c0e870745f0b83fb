/* Virtual memory management: reserved addresses, allocations without an address, and mapping one to the
 * other. An allocation is an anonymous file, so that it can be mapped more than once. */
#include "memory.h"

#include "require.h"

#include <sys/mman.h>
#include <unistd.h>

#define GRANULARITY_BYTES ((size_t)2 << 20)

struct allocation {
    struct object object;
    CUmemAllocationProp properties;
    struct device *device;
    size_t bytes;
    int file;
    unsigned references; /* the handle, and mappings */
};

static struct pool allocation_pool = POOL(struct allocation);
static pthread_mutex_t allocation_lock = PTHREAD_MUTEX_INITIALIZER;

static struct allocation *allocation_of(CUmemGenericAllocationHandle handle)
{
    struct allocation *allocation = (struct allocation *)(uintptr_t)handle;
    return object_is(allocation, OBJECT_ALLOCATION) ? allocation : NULL;
}

static void allocation_drop(struct allocation *allocation)
{
    pthread_mutex_lock(&allocation_lock);
    bool last = --allocation->references == 0;
    pthread_mutex_unlock(&allocation_lock);
    if (last) {
        atomic_fetch_sub(&allocation->device->used_bytes, allocation->bytes);
        close(allocation->file);
        pool_give(&allocation_pool, allocation);
    }
}

static bool is_granular(size_t bytes)
{
    return bytes && bytes % GRANULARITY_BYTES == 0;
}

static CUresult check_properties(const CUmemAllocationProp *properties)
{
    REQUIRE(properties && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED);
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return device_of(properties->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* --- exported: addresses ------------------------------------------------------------------------------- */

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                     unsigned long long flags)
{
    ENTER(cuMemAddressReserve);
    (void)wanted;
    REQUIRE(address && is_granular(bytes) && flags == 0);
    REQUIRE((alignment & (alignment - 1)) == 0);
    size_t unit = alignment > GRANULARITY_BYTES ? alignment : GRANULARITY_BYTES;
    char *base = mmap(NULL, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    char *aligned = (char *)(((uintptr_t)base + unit - 1) & ~(uintptr_t)(unit - 1));
    if (aligned > base) {
        munmap(base, (size_t)(aligned - base));
    }
    if (aligned - base < (ptrdiff_t)unit) {
        munmap(aligned + bytes, unit - (size_t)(aligned - base));
    }
    *address = (CUdeviceptr)aligned;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    ENTER(cuMemAddressFree);
    REQUIRE(address && address % GRANULARITY_BYTES == 0 && is_granular(bytes));
    return munmap((void *)address, bytes) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* --- exported: allocations ----------------------------------------------------------------------------- */

static struct allocation *allocation_make(const CUmemAllocationProp *properties, size_t bytes)
{
    int file = memfd_create("simcuda", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        if (file >= 0) {
            close(file);
        }
        return NULL;
    }
    struct allocation *allocation = pool_take(&allocation_pool, OBJECT_ALLOCATION);
    if (!allocation) {
        close(file);
        return NULL;
    }
    allocation->properties = *properties;
    allocation->device = device_of(properties->location.id);
    allocation->bytes = bytes;
    allocation->file = file;
    allocation->references = 1;
    return allocation;
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                             const CUmemAllocationProp *properties, unsigned long long flags)
{
    ENTER(cuMemCreate);
    TRY(check_properties(properties));
    REQUIRE(handle && is_granular(bytes) && flags == 0);
    struct device *device = device_of(properties->location.id);
    uint64_t total = (uint64_t)device->model->memory_mib << 20;
    if (bytes > total - atomic_load(&device->used_bytes)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct allocation *allocation = allocation_make(properties, bytes);
    if (!allocation) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    atomic_fetch_add(&device->used_bytes, bytes);
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)allocation;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle)
{
    ENTER(cuMemRelease);
    struct allocation *allocation = allocation_of(handle);
    REQUIRE(allocation);
    allocation_drop(allocation);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *properties,
                                               CUmemAllocationGranularity_flags option)
{
    ENTER(cuMemGetAllocationGranularity);
    (void)option;
    TRY(check_properties(properties));
    REQUIRE(bytes);
    *bytes = GRANULARITY_BYTES;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                        CUmemGenericAllocationHandle handle)
{
    ENTER(cuMemGetAllocationPropertiesFromHandle);
    struct allocation *allocation = allocation_of(handle);
    REQUIRE(properties && allocation);
    *properties = allocation->properties;
    return CUDA_SUCCESS;
}

/* --- exported: mapping --------------------------------------------------------------------------------- */

CUresult CUDAAPI cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    ENTER(cuMemMap);
    struct allocation *allocation = allocation_of(handle);
    REQUIRE(address && allocation && flags == 0 && is_granular(bytes));
    REQUIRE(offset <= allocation->bytes && bytes <= allocation->bytes - offset);
    void *mapped = mmap((void *)address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                        allocation->file, (off_t)offset);
    if (mapped == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&allocation_lock);
    allocation->references++;
    pthread_mutex_unlock(&allocation_lock);
    struct memory_range range = {
        .address = address, .bytes = bytes, .kind = MEMORY_MAPPED, .allocation = allocation};
    return memory_register(&range);
}

CUresult CUDAAPI cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    ENTER(cuMemUnmap);
    while (bytes) {
        struct memory_range range;
        REQUIRE(memory_find(address, &range) && range.kind == MEMORY_MAPPED);
        REQUIRE(range.address == address && range.bytes <= bytes);
        TRY(memory_release(address, MEMORY_MAPPED));
        void *reserved = mmap((void *)address, range.bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        allocation_drop(range.allocation);
        if (reserved == MAP_FAILED) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        address += range.bytes;
        bytes -= range.bytes;
    }
    return CUDA_SUCCESS;
}

static int protection_of(CUmemAccess_flags flags)
{
    switch (flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
        return PROT_READ;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
        return PROT_READ | PROT_WRITE;
    default:
        return PROT_NONE;
    }
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *list, size_t count)
{
    ENTER(cuMemSetAccess);
    REQUIRE(list && count && is_granular(bytes));
    REQUIRE(memory_holds(address, 1, MEMORY_MAPPED) && memory_holds(address + bytes - 1, 1, MEMORY_MAPPED));
    int protection = PROT_NONE;
    for (size_t i = 0; i < count; i++) {
        protection |= protection_of(list[i].flags);
    }
    return mprotect((void *)address, bytes, protection) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    ENTER(cuMemGetAccess);
    REQUIRE(flags && location && memory_holds(address, 1, MEMORY_MAPPED));
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    ENTER(cuMemRetainAllocationHandle);
    struct memory_range range;
    REQUIRE(handle && memory_find((CUdeviceptr)address, &range) && range.kind == MEMORY_MAPPED);
    pthread_mutex_lock(&allocation_lock);
    range.allocation->references++;
    pthread_mutex_unlock(&allocation_lock);
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)range.allocation;
    return CUDA_SUCCESS;
}
