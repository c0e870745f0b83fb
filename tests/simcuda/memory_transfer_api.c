/* The exported copies, fills and stream memory operations. Each describes itself as one operation for a
 * stream. */
#include "capture.h"
#include "memory.h"
#include "require.h"
#include "stream.h"

#include <stddef.h>
#include <string.h>

/* --- copies -------------------------------------------------------------------------------------------- */

/* A contiguous copy between memory of the given types. */
static CUDA_MEMCPY3D flat(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type, CUdeviceptr from,
                          size_t bytes)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = from_type,
                           .srcHost = from_type == CU_MEMORYTYPE_HOST ? (const void *)from : NULL,
                           .srcDevice = from_type == CU_MEMORYTYPE_HOST ? 0 : from,
                           .dstMemoryType = to_type,
                           .dstHost = to_type == CU_MEMORYTYPE_HOST ? (void *)to : NULL,
                           .dstDevice = to_type == CU_MEMORYTYPE_HOST ? 0 : to,
                           .WidthInBytes = bytes,
                           .Height = 1,
                           .Depth = 1};
}

static CUDA_MEMCPY3D from_2d(const CUDA_MEMCPY2D *copy)
{
    return (CUDA_MEMCPY3D){.srcXInBytes = copy->srcXInBytes,
                           .srcY = copy->srcY,
                           .srcMemoryType = copy->srcMemoryType,
                           .srcHost = copy->srcHost,
                           .srcDevice = copy->srcDevice,
                           .srcPitch = copy->srcPitch ? copy->srcPitch : copy->WidthInBytes,
                           .dstXInBytes = copy->dstXInBytes,
                           .dstY = copy->dstY,
                           .dstMemoryType = copy->dstMemoryType,
                           .dstHost = copy->dstHost,
                           .dstDevice = copy->dstDevice,
                           .dstPitch = copy->dstPitch ? copy->dstPitch : copy->WidthInBytes,
                           .WidthInBytes = copy->WidthInBytes,
                           .Height = copy->Height,
                           .Depth = 1};
}

/* CUDA_MEMCPY3D_PEER differs only in that contexts stand where CUDA_MEMCPY3D has reserved fields. */
static CUDA_MEMCPY3D from_peer(const CUDA_MEMCPY3D_PEER *peer)
{
    _Static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER), "same layout");
    _Static_assert(offsetof(CUDA_MEMCPY3D, dstArray) == offsetof(CUDA_MEMCPY3D_PEER, dstArray),
                   "same layout");
    CUDA_MEMCPY3D copy;
    memcpy(&copy, peer, sizeof(copy));
    copy.reserved0 = copy.reserved1 = NULL;
    return copy;
}

static CUresult copy_in_stream(struct CUstream_st *stream, CUDA_MEMCPY3D copy)
{
    TRY(memory_check_copy(&copy));
    struct operation operation = {.kind = OPERATION_COPY, .copy = copy};
    return stream_submit(stream, &operation);
}

/* The synchronous functions work on the default stream and wait for it. */
static CUresult enter_synchronous(const struct entry *entry, CUstream *stream)
{
    *stream = NULL;
    TRY(stream_enter(entry, stream));
    return capture_forbids_unsafe();
}

static CUresult copy_now(const struct entry *entry, CUDA_MEMCPY3D copy)
{
    CUstream stream;
    TRY(enter_synchronous(entry, &stream));
    TRY(copy_in_stream(stream, copy));
    stream_wait_idle(stream);
    return CUDA_SUCCESS;
}

#define HOST    CU_MEMORYTYPE_HOST
#define DEVICE  CU_MEMORYTYPE_DEVICE
#define UNIFIED CU_MEMORYTYPE_UNIFIED

STREAM_ENTRY(cuMemcpy, _ptds, (to, from, bytes), CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy_now(entry, flat(UNIFIED, to, UNIFIED, from, bytes));
}

STREAM_ENTRY(cuMemcpyPeer, _ptds, (to, to_context, from, from_context, bytes), CUdeviceptr to,
             CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    (void)to_context, (void)from_context;
    return copy_now(entry, flat(DEVICE, to, DEVICE, from, bytes));
}

STREAM_ENTRY(cuMemcpyHtoD_v2, _ptds, (to, from, bytes), CUdeviceptr to, const void *from, size_t bytes)
{
    return copy_now(entry, flat(DEVICE, to, HOST, (CUdeviceptr)from, bytes));
}

STREAM_ENTRY(cuMemcpyDtoH_v2, _ptds, (to, from, bytes), void *to, CUdeviceptr from, size_t bytes)
{
    return copy_now(entry, flat(HOST, (CUdeviceptr)to, DEVICE, from, bytes));
}

STREAM_ENTRY(cuMemcpyDtoD_v2, _ptds, (to, from, bytes), CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy_now(entry, flat(DEVICE, to, DEVICE, from, bytes));
}

STREAM_ENTRY(cuMemcpy2D_v2, _ptds, (copy), const CUDA_MEMCPY2D *copy)
{
    REQUIRE(copy);
    return copy_now(entry, from_2d(copy));
}

STREAM_ENTRY(cuMemcpy2DUnaligned_v2, _ptds, (copy), const CUDA_MEMCPY2D *copy)
{
    REQUIRE(copy);
    return copy_now(entry, from_2d(copy));
}

STREAM_ENTRY(cuMemcpy3D_v2, _ptds, (copy), const CUDA_MEMCPY3D *copy)
{
    REQUIRE(copy);
    return copy_now(entry, *copy);
}

STREAM_ENTRY(cuMemcpy3DPeer, _ptds, (copy), const CUDA_MEMCPY3D_PEER *copy)
{
    REQUIRE(copy);
    return copy_now(entry, from_peer(copy));
}

STREAM_ENTRY(cuMemcpyAsync, _ptsz, (to, from, bytes, stream), CUdeviceptr to, CUdeviceptr from, size_t bytes,
             CUstream stream)
{
    ENTER_STREAM(stream);
    return copy_in_stream(stream, flat(UNIFIED, to, UNIFIED, from, bytes));
}

STREAM_ENTRY(cuMemcpyPeerAsync, _ptsz, (to, to_context, from, from_context, bytes, stream), CUdeviceptr to,
             CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, CUstream stream)
{
    ENTER_STREAM(stream);
    (void)to_context, (void)from_context;
    return copy_in_stream(stream, flat(DEVICE, to, DEVICE, from, bytes));
}

STREAM_ENTRY(cuMemcpyHtoDAsync_v2, _ptsz, (to, from, bytes, stream), CUdeviceptr to, const void *from,
             size_t bytes, CUstream stream)
{
    ENTER_STREAM(stream);
    return copy_in_stream(stream, flat(DEVICE, to, HOST, (CUdeviceptr)from, bytes));
}

STREAM_ENTRY(cuMemcpyDtoHAsync_v2, _ptsz, (to, from, bytes, stream), void *to, CUdeviceptr from, size_t bytes,
             CUstream stream)
{
    ENTER_STREAM(stream);
    return copy_in_stream(stream, flat(HOST, (CUdeviceptr)to, DEVICE, from, bytes));
}

STREAM_ENTRY(cuMemcpyDtoDAsync_v2, _ptsz, (to, from, bytes, stream), CUdeviceptr to, CUdeviceptr from,
             size_t bytes, CUstream stream)
{
    ENTER_STREAM(stream);
    return copy_in_stream(stream, flat(DEVICE, to, DEVICE, from, bytes));
}

STREAM_ENTRY(cuMemcpy2DAsync_v2, _ptsz, (copy, stream), const CUDA_MEMCPY2D *copy, CUstream stream)
{
    ENTER_STREAM(stream);
    REQUIRE(copy);
    return copy_in_stream(stream, from_2d(copy));
}

STREAM_ENTRY(cuMemcpy3DAsync_v2, _ptsz, (copy, stream), const CUDA_MEMCPY3D *copy, CUstream stream)
{
    ENTER_STREAM(stream);
    REQUIRE(copy);
    return copy_in_stream(stream, *copy);
}

STREAM_ENTRY(cuMemcpy3DPeerAsync, _ptsz, (copy, stream), const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
    ENTER_STREAM(stream);
    REQUIRE(copy);
    return copy_in_stream(stream, from_peer(copy));
}

/* --- fills --------------------------------------------------------------------------------------------- */

static CUresult fill_in_stream(struct CUstream_st *stream, CUDA_MEMSET_NODE_PARAMS fill)
{
    TRY(memory_check_fill(&fill));
    struct operation operation = {.kind = OPERATION_FILL, .fill = fill};
    return stream_submit(stream, &operation);
}

static CUresult fill_now(const struct entry *entry, CUDA_MEMSET_NODE_PARAMS fill)
{
    CUstream stream;
    TRY(enter_synchronous(entry, &stream));
    TRY(fill_in_stream(stream, fill));
    stream_wait_idle(stream);
    return CUDA_SUCCESS;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr to, size_t pitch, unsigned value, unsigned element_bytes,
                                       size_t width, size_t height)
{
    return (CUDA_MEMSET_NODE_PARAMS){to, pitch, value, element_bytes, width, height};
}

#define FILL_FUNCTIONS(bits, type)                                                                           \
    STREAM_ENTRY(cuMemsetD##bits##_v2, _ptds, (to, value, count), CUdeviceptr to, type value, size_t count)  \
    {                                                                                                        \
        return fill_now(entry, fill_of(to, 0, value, bits / 8, count, 1));                                   \
    }                                                                                                        \
    STREAM_ENTRY(cuMemsetD2D##bits##_v2, _ptds, (to, pitch, value, width, height), CUdeviceptr to,           \
                 size_t pitch, type value, size_t width, size_t height)                                      \
    {                                                                                                        \
        return fill_now(entry, fill_of(to, pitch, value, bits / 8, width, height));                          \
    }                                                                                                        \
    STREAM_ENTRY(cuMemsetD##bits##Async, _ptsz, (to, value, count, stream), CUdeviceptr to, type value,      \
                 size_t count, CUstream stream)                                                              \
    {                                                                                                        \
        ENTER_STREAM(stream);                                                                                \
        return fill_in_stream(stream, fill_of(to, 0, value, bits / 8, count, 1));                            \
    }                                                                                                        \
    STREAM_ENTRY(cuMemsetD2D##bits##Async, _ptsz, (to, pitch, value, width, height, stream), CUdeviceptr to, \
                 size_t pitch, type value, size_t width, size_t height, CUstream stream)                     \
    {                                                                                                        \
        ENTER_STREAM(stream);                                                                                \
        return fill_in_stream(stream, fill_of(to, pitch, value, bits / 8, width, height));                   \
    }
FILL_FUNCTIONS(8, unsigned char)
FILL_FUNCTIONS(16, unsigned short)
FILL_FUNCTIONS(32, unsigned int)

/* --- stream memory operations -------------------------------------------------------------------------- */

static CUresult words_in_stream(struct CUstream_st *stream, unsigned count,
                                const CUstreamBatchMemOpParams *words)
{
    for (unsigned i = 0; i < count; i++) {
        bool barrier = words[i].operation == CU_STREAM_MEM_OP_BARRIER ||
                       words[i].operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
        REQUIRE(barrier || memory_holds(words[i].waitValue.address, 4, MEMORY_ANY));
    }
    for (unsigned i = 0; i < count; i++) {
        struct operation operation = {.kind = OPERATION_MEMORY_WORD, .word = words[i]};
        TRY(stream_submit(stream, &operation));
    }
    return CUDA_SUCCESS;
}

#define WORD_FUNCTION(name, verb, member, field, type)                                                       \
    STREAM_ENTRY(name, _ptsz, (stream, address, value, flags), CUstream stream, CUdeviceptr address,         \
                 type value, unsigned flags)                                                                 \
    {                                                                                                        \
        ENTER_STREAM(stream);                                                                                \
        CUstreamBatchMemOpParams word = {.member = {.operation = verb, .address = address, .flags = flags}}; \
        word.member.field = value;                                                                           \
        return words_in_stream(stream, 1, &word);                                                            \
    }
WORD_FUNCTION(cuStreamWaitValue32_v2, CU_STREAM_MEM_OP_WAIT_VALUE_32, waitValue, value, cuuint32_t)
WORD_FUNCTION(cuStreamWaitValue64_v2, CU_STREAM_MEM_OP_WAIT_VALUE_64, waitValue, value64, cuuint64_t)
WORD_FUNCTION(cuStreamWriteValue32_v2, CU_STREAM_MEM_OP_WRITE_VALUE_32, writeValue, value, cuuint32_t)
WORD_FUNCTION(cuStreamWriteValue64_v2, CU_STREAM_MEM_OP_WRITE_VALUE_64, writeValue, value64, cuuint64_t)

STREAM_ENTRY(cuStreamBatchMemOp_v2, _ptsz, (stream, count, words, flags), CUstream stream, unsigned count,
             CUstreamBatchMemOpParams *words, unsigned flags)
{
    ENTER_STREAM(stream);
    REQUIRE(words && count && count <= 256 && flags == 0);
    return words_in_stream(stream, count, words);
}
