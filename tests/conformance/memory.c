/* Device, managed, pinned and pooled memory; copies and fills; virtual memory; what pointers say of
 * themselves. */
#include "conformance.h"

#define COUNT 1000
#define BYTES (COUNT * sizeof(int))

static CUdevice device;

static void allocation(void)
{
    CUdeviceptr memory, base;
    size_t bytes, free_before, free_after, total;
    SUCCEED(api.cuMemGetInfo(&free_before, &total));
    CHECK(free_before <= total && total > 0);
    SUCCEED(api.cuMemAlloc(&memory, 1 << 20));
    CHECK(memory % 256 == 0);
    SUCCEED(api.cuMemGetInfo(&free_after, &total));
    CHECK(free_after <= free_before);
    SUCCEED(api.cuMemGetAddressRange(&base, &bytes, memory + 1000));
    CHECK(base == memory && bytes == 1 << 20);
    SUCCEED(api.cuMemFree(memory));
    SUCCEED(api.cuMemFree(0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemAlloc(&memory, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, api.cuMemAlloc(&memory, total * 2));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemFree(memory + 1));
    size_t pitch = 0;
    SUCCEED(api.cuMemAllocPitch(&memory, &pitch, 1000, 10, 4));
    CHECK(pitch >= 1000 && pitch % 4 == 0);
    SUCCEED(api.cuMemFree(memory));
}

static void copies(void)
{
    static int from[COUNT], to[COUNT];
    CUdeviceptr a, b;
    for (int i = 0; i < COUNT; i++) {
        from[i] = i * 7;
    }
    SUCCEED(api.cuMemAlloc(&a, BYTES));
    SUCCEED(api.cuMemAlloc(&b, BYTES));
    SUCCEED(api.cuMemcpyHtoD(a, from, BYTES));
    SUCCEED(api.cuMemcpyDtoD(b, a, BYTES));
    SUCCEED(api.cuMemcpyDtoH(to, b, BYTES));
    CHECK(memcmp(from, to, BYTES) == 0);
    SUCCEED(api.cuMemsetD32(a, 0x01020304, COUNT));
    SUCCEED(api.cuMemsetD8(a, 0xff, 4));
    SUCCEED(api.cuMemsetD16(a + 4, 0xabcd, 2));
    SUCCEED(api.cuMemcpy((CUdeviceptr)to, a, BYTES));
    CHECK(to[0] == -1 && to[1] == (int)0xabcdabcd && to[2] == 0x01020304 && to[COUNT - 1] == 0x01020304);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemcpyHtoD(a, from, BYTES + 512 * 1024 * 1024));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemcpyHtoD(0, from, 4));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemsetD32(a + 1, 0, 1));
    SUCCEED(api.cuMemcpyHtoD(a, from, 0));
    SUCCEED(api.cuMemFree(a));
    SUCCEED(api.cuMemFree(b));
}

/* Ten rows of 40 bytes out of a pitched block, and back into a compact one. */
static void copy_2d(void)
{
    unsigned char host[400], back[400];
    CUdeviceptr memory;
    size_t pitch;
    for (int i = 0; i < 400; i++) {
        host[i] = (unsigned char)i;
    }
    SUCCEED(api.cuMemAllocPitch(&memory, &pitch, 40, 10, 4));
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 40,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = memory,
                        .dstPitch = pitch,
                        .WidthInBytes = 40,
                        .Height = 10};
    SUCCEED(api.cuMemcpy2D(&in));
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = memory,
                         .srcPitch = pitch,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back,
                         .dstPitch = 40,
                         .WidthInBytes = 40,
                         .Height = 10};
    SUCCEED(api.cuMemcpy2D(&out));
    CHECK(memcmp(host, back, sizeof(host)) == 0);
    out.srcPitch = 10;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemcpy2D(&out));
    SUCCEED(api.cuMemFree(memory));
}

static void host_memory(void)
{
    void *pinned;
    CUdeviceptr address;
    SUCCEED(api.cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE));
    SUCCEED(api.cuMemHostGetDevicePointer(&address, pinned, 0));
    ((int *)pinned)[0] = 5;
    unsigned type = 0;
    SUCCEED(api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    CHECK(type == CU_MEMORYTYPE_HOST);
    SUCCEED(api.cuMemFreeHost(pinned));
    void *own = aligned_alloc(4096, 8192);
    SUCCEED(api.cuMemHostRegister(own, 8192, 0));
    EXPECT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, api.cuMemHostRegister(own, 8192, 0));
    SUCCEED(api.cuMemHostUnregister(own));
    EXPECT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, api.cuMemHostUnregister(own));
    free(own);
    CUdeviceptr managed;
    SUCCEED(api.cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    ((int *)managed)[1] = 6; /* the host may write to it */
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuMemFree(managed));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemAllocManaged(&managed, 4096, 0));
}

static void pointers(void)
{
    CUdeviceptr memory, start = 0;
    CUcontext context = NULL, current;
    int ordinal = -1, dummy = 0;
    unsigned type = 0;
    SUCCEED(api.cuMemAlloc(&memory, 4096));
    SUCCEED(api.cuCtxGetCurrent(&current));
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void *values[] = {&type, &context, &ordinal, &start};
    SUCCEED(api.cuPointerGetAttributes(4, which, values, memory + 8));
    CHECK(type == CU_MEMORYTYPE_DEVICE && context == current && ordinal == device && start == memory);
    SUCCEED(api.cuPointerGetAttributes(4, which, values, (CUdeviceptr)&dummy));
    CHECK(type == 0 && context == NULL);
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&dummy));
    SUCCEED(api.cuMemFree(memory));
}

static void pools(void)
{
    CUmemoryPool standard, own;
    CUdeviceptr memory;
    CUstream stream;
    cuuint64_t used = 1;
    SUCCEED(api.cuStreamCreate(&stream, 0));
    SUCCEED(api.cuDeviceGetDefaultMemPool(&standard, device));
    SUCCEED(api.cuMemAllocAsync(&memory, 1 << 20, stream));
    SUCCEED(api.cuMemsetD32Async(memory, 1, 1 << 18, stream));
    SUCCEED(api.cuMemPoolGetAttribute(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used >= 1 << 20);
    SUCCEED(api.cuMemFreeAsync(memory, stream));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuMemPoolGetAttribute(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used == 0);
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    SUCCEED(api.cuMemPoolCreate(&own, &properties));
    cuuint64_t threshold = 123456;
    SUCCEED(api.cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    SUCCEED(api.cuMemAllocFromPoolAsync(&memory, 4096, own, stream));
    SUCCEED(api.cuMemFreeAsync(memory, stream));
    SUCCEED(api.cuStreamSynchronize(stream));
    SUCCEED(api.cuMemPoolDestroy(own));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemPoolDestroy(standard));
    SUCCEED(api.cuStreamDestroy(stream));
}

static void virtual_memory(void)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    CUmemAccessDesc access = {.location = properties.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    size_t unit = 0;
    int value = 9, back = 0;
    SUCCEED(api.cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(unit >= 4096);
    SUCCEED(api.cuMemAddressReserve(&address, 4 * unit, 0, 0, 0));
    SUCCEED(api.cuMemCreate(&handle, unit, &properties, 0));
    SUCCEED(api.cuMemMap(address + unit, unit, 0, handle, 0));
    SUCCEED(api.cuMemSetAccess(address + unit, unit, &access, 1));
    SUCCEED(api.cuMemRelease(handle));
    SUCCEED(api.cuMemcpyHtoD(address + unit, &value, sizeof(value)));
    SUCCEED(api.cuMemcpyDtoH(&back, address + unit, sizeof(back)));
    CHECK(back == value);
    SUCCEED(api.cuMemUnmap(address + unit, unit));
    SUCCEED(api.cuMemAddressFree(address, 4 * unit));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuMemCreate(&handle, unit + 1, &properties, 0));
}

int main(void)
{
    conformance_begin();
    SUCCEED(api.cuDeviceGet(&device, 0));
    allocation();
    copies();
    copy_2d();
    host_memory();
    pointers();
    pools();
    virtual_memory();
    return conformance_end();
}
