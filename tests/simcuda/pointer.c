/* What can be asked about an address. */
#include "memory.h"

#include "require.h"

#include <string.h>

static CUmemorytype type_of(const struct memory_range *range)
{
    return range->kind & MEMORY_ON_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static int ordinal_of(const struct memory_range *range)
{
    const struct device *device = range->device    ? range->device
                                  : range->context ? range->context->device
                                                   : NULL;
    return device ? device->ordinal : 0;
}

/* The host can reach what is on the host, and managed memory. */
static CUresult host_pointer(const struct memory_range *range, CUdeviceptr address, void *value)
{
    REQUIRE(range->kind & (MEMORY_ON_HOST | MEMORY_MANAGED));
    *(void **)value = (void *)address;
    return CUDA_SUCCESS;
}

#define ANSWER(attribute, type, expression)                                                                  \
    case attribute:                                                                                          \
        *(type *)value = (type)(expression);                                                                 \
        return CUDA_SUCCESS;

static CUresult answer(const struct memory_range *range, CUdeviceptr address, CUpointer_attribute attribute,
                       void *value)
{
    switch ((int)attribute) {
        ANSWER(CU_POINTER_ATTRIBUTE_CONTEXT, CUcontext, range->context_id ? range->context : NULL)
        ANSWER(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unsigned, type_of(range))
        ANSWER(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CUdeviceptr, address)
        ANSWER(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, bool, false)
        ANSWER(CU_POINTER_ATTRIBUTE_BUFFER_ID, unsigned long long, range->id)
        ANSWER(CU_POINTER_ATTRIBUTE_IS_MANAGED, bool, range->kind == MEMORY_MANAGED)
        ANSWER(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, int, ordinal_of(range))
        ANSWER(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, bool, false)
        ANSWER(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CUdeviceptr, range->address)
        ANSWER(CU_POINTER_ATTRIBUTE_RANGE_SIZE, size_t, range->bytes)
        ANSWER(CU_POINTER_ATTRIBUTE_MAPPED, bool, true)
        ANSWER(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, unsigned long long, 0)
        ANSWER(CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, bool, false)
        ANSWER(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, unsigned, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE)
        ANSWER(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, CUmemoryPool, range->pool)
        ANSWER(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, size_t, range->bytes)
        ANSWER(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, CUdeviceptr, range->address)
        ANSWER(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, unsigned long long, range->id)
        ANSWER(CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, bool, false)
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return host_pointer(range, address, value);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult CUDAAPI cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    ENTER_IN_CONTEXT(cuPointerGetAttribute, context);
    (void)context;
    struct memory_range range;
    REQUIRE(value && memory_find(address, &range));
    return answer(&range, address, attribute, value);
}

static size_t bytes_of(CUpointer_attribute attribute)
{
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return sizeof(bool);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return sizeof(int);
    default:
        return sizeof(CUdeviceptr);
    }
}

/* What is not known about an address is zero here, not an error; the ordinal is then -2. */
CUresult CUDAAPI cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                                        CUdeviceptr address)
{
    ENTER_IN_CONTEXT(cuPointerGetAttributes, context);
    (void)context;
    REQUIRE(count && attributes && values);
    struct memory_range range;
    bool known = memory_find(address, &range);
    for (unsigned i = 0; i < count; i++) {
        REQUIRE(attributes[i] >= CU_POINTER_ATTRIBUTE_CONTEXT &&
                attributes[i] <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE);
        if (!known || answer(&range, address, attributes[i], values[i]) != CUDA_SUCCESS) {
            memset(values[i], 0, bytes_of(attributes[i]));
            if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
                *(int *)values[i] = CU_DEVICE_INVALID;
            }
        }
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    ENTER_IN_CONTEXT(cuPointerSetAttribute, context);
    (void)context;
    REQUIRE(value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && memory_holds(address, 1, MEMORY_ANY));
    return CUDA_SUCCESS;
}
