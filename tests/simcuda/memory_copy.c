/* Copies, fills and stream memory operations: how they are checked, and done. */
#include "memory.h"

#include "require.h"

#include <sched.h>
#include <string.h>

/* --- copies -------------------------------------------------------------------------------------------- */

struct copy_side {
    CUmemorytype type;
    char *base;
    size_t x, y, z, pitch, height;
};

static struct copy_side source_of(const CUDA_MEMCPY3D *copy)
{
    void *base = copy->srcMemoryType == CU_MEMORYTYPE_HOST ? (void *)copy->srcHost : (void *)copy->srcDevice;
    return (struct copy_side){copy->srcMemoryType, base,           copy->srcXInBytes, copy->srcY,
                              copy->srcZ,          copy->srcPitch, copy->srcHeight};
}

static struct copy_side destination_of(const CUDA_MEMCPY3D *copy)
{
    void *base = copy->dstMemoryType == CU_MEMORYTYPE_HOST ? copy->dstHost : (void *)copy->dstDevice;
    return (struct copy_side){copy->dstMemoryType, base,           copy->dstXInBytes, copy->dstY,
                              copy->dstZ,          copy->dstPitch, copy->dstHeight};
}

static char *row_of(const struct copy_side *side, size_t row, size_t slice)
{
    return side->base + ((side->z + slice) * side->height + side->y + row) * side->pitch + side->x;
}

static bool is_empty(const CUDA_MEMCPY3D *copy)
{
    return copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0;
}

static CUresult check_side(const struct copy_side *side, const CUDA_MEMCPY3D *copy)
{
    if (side->type == CU_MEMORYTYPE_ARRAY) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    REQUIRE(side->base);
    bool flat = copy->Height == 1 && copy->Depth == 1 && side->y == 0 && side->z == 0;
    REQUIRE(flat || side->pitch >= side->x + copy->WidthInBytes);
    REQUIRE(copy->Depth == 1 || side->height >= copy->Height);
    if (side->type == CU_MEMORYTYPE_DEVICE) {
        char *last = row_of(side, copy->Height - 1, copy->Depth - 1) + copy->WidthInBytes;
        REQUIRE(memory_holds((CUdeviceptr)side->base, (size_t)(last - side->base), MEMORY_ANY));
    }
    return CUDA_SUCCESS;
}

CUresult memory_check_copy(const CUDA_MEMCPY3D *copy)
{
    if (is_empty(copy)) {
        return CUDA_SUCCESS;
    }
    struct copy_side from = source_of(copy), to = destination_of(copy);
    TRY(check_side(&from, copy));
    return check_side(&to, copy);
}

void memory_copy(const CUDA_MEMCPY3D *copy)
{
    struct copy_side from = source_of(copy), to = destination_of(copy);
    for (size_t slice = 0; slice < copy->Depth; slice++) {
        for (size_t row = 0; row < copy->Height && copy->WidthInBytes; row++) {
            memmove(row_of(&to, row, slice), row_of(&from, row, slice), copy->WidthInBytes);
        }
    }
}

/* --- fills --------------------------------------------------------------------------------------------- */

CUresult memory_check_fill(const CUDA_MEMSET_NODE_PARAMS *fill)
{
    size_t row_bytes = fill->width * fill->elementSize;
    REQUIRE(fill->elementSize == 1 || fill->elementSize == 2 || fill->elementSize == 4);
    REQUIRE(fill->dst % fill->elementSize == 0 && fill->pitch % fill->elementSize == 0);
    if (row_bytes == 0 || fill->height == 0) {
        return CUDA_SUCCESS;
    }
    REQUIRE(fill->height == 1 || fill->pitch >= row_bytes);
    REQUIRE(memory_holds(fill->dst, (fill->height - 1) * fill->pitch + row_bytes, MEMORY_ANY));
    return CUDA_SUCCESS;
}

static void fill_row(char *row, const CUDA_MEMSET_NODE_PARAMS *fill)
{
    if (fill->elementSize == 1) {
        memset(row, (int)fill->value, fill->width);
        return;
    }
    for (size_t i = 0; i < fill->width; i++) { /* little-endian: the low bytes of the value come first */
        memcpy(row + i * fill->elementSize, &fill->value, fill->elementSize);
    }
}

void memory_fill(const CUDA_MEMSET_NODE_PARAMS *fill)
{
    for (size_t row = 0; row < fill->height && fill->width; row++) {
        fill_row((char *)fill->dst + row * fill->pitch, fill);
    }
}

/* --- stream memory operations -------------------------------------------------------------------------- */

static bool is_wide(const CUstreamBatchMemOpParams *word)
{
    return word->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
           word->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool satisfied(uint64_t value, uint64_t wanted, unsigned flags, bool wide)
{
    uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return value == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (value & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return (~(value | wanted) & mask) != 0;
    default: /* GEQ compares cyclically */
        return wide ? (int64_t)(value - wanted) >= 0 : (int32_t)(uint32_t)(value - wanted) >= 0;
    }
}

bool memory_word_ready(const CUstreamBatchMemOpParams *word)
{
    bool waits = word->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                 word->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    if (!waits) {
        return true;
    }
    const void *address = (const void *)word->waitValue.address;
    bool wide = is_wide(word);
    uint64_t value = wide ? __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE)
                          : __atomic_load_n((const uint32_t *)address, __ATOMIC_ACQUIRE);
    return satisfied(value, wide ? word->waitValue.value64 : word->waitValue.value, word->waitValue.flags,
                     wide);
}

void memory_word(const CUstreamBatchMemOpParams *word)
{
    while (!memory_word_ready(word)) {
        sched_yield();
    }
    void *address = (void *)word->writeValue.address;
    if (word->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) {
        __atomic_store_n((uint32_t *)address, word->writeValue.value, __ATOMIC_RELEASE);
    } else if (word->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
        __atomic_store_n((uint64_t *)address, word->writeValue.value64, __ATOMIC_RELEASE);
    }
}
