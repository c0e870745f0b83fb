/* Tensor maps: opaque descriptors that kernels read. Kernels are not executed, so only the arguments matter.
 */
#include "require.h"

#include <string.h>

enum { MAX_RANK = 5, ADDRESS_ALIGNMENT = 16, MAX_BOX = 256 };

static CUresult encode(CUtensorMap *map, cuuint32_t rank, void *address, const cuuint64_t *dimensions)
{
    REQUIRE(map && (uintptr_t)map % 64 == 0 && rank >= 1 && rank <= MAX_RANK && dimensions);
    REQUIRE(address && (uintptr_t)address % ADDRESS_ALIGNMENT == 0);
    for (cuuint32_t i = 0; i < rank; i++) {
        REQUIRE(dimensions[i] >= 1 && dimensions[i] <= (cuuint64_t)1 << 32);
    }
    memset(map, 0, sizeof(*map));
    map->opaque[0] = (cuuint64_t)(uintptr_t)address;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                        void *address, const cuuint64_t *dimensions,
                                        const cuuint64_t *strides, const cuuint32_t *box,
                                        const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill)
{
    ENTER(cuTensorMapEncodeTiled);
    (void)type, (void)strides, (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    REQUIRE(box && element_strides && rank <= MAX_RANK);
    for (cuuint32_t i = 0; i < rank; i++) {
        REQUIRE(box[i] >= 1 && box[i] <= MAX_BOX && element_strides[i] >= 1 && element_strides[i] <= 8);
    }
    return encode(map, rank, address, dimensions);
}

CUresult CUDAAPI cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                         void *address, const cuuint64_t *dimensions,
                                         const cuuint64_t *strides, const int *lower, const int *upper,
                                         cuuint32_t channels, cuuint32_t pixels,
                                         const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                         CUtensorMapFloatOOBfill fill)
{
    ENTER(cuTensorMapEncodeIm2col);
    (void)type, (void)strides, (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    REQUIRE(lower && upper && element_strides && channels && channels <= 256 && pixels && pixels <= 1024);
    return encode(map, rank, address, dimensions);
}

CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    ENTER(cuTensorMapReplaceAddress);
    REQUIRE(map && address && (uintptr_t)address % ADDRESS_ALIGNMENT == 0);
    map->opaque[0] = (cuuint64_t)(uintptr_t)address;
    return CUDA_SUCCESS;
}
