/* Device memory. A device address is the address of host memory that lies behind it, so copies are memcpy. */
#ifndef SIMCUDA_MEMORY_H
#define SIMCUDA_MEMORY_H

#include "context.h"
#include "object.h"
#include "operation.h"

enum memory_kind {
    MEMORY_DEVICE = 1u << 0,
    MEMORY_MANAGED = 1u << 1,
    MEMORY_ASYNC = 1u << 2,      /* from a memory pool */
    MEMORY_MAPPED = 1u << 3,     /* cuMemMap */
    MEMORY_PINNED = 1u << 4,     /* cuMemHostAlloc */
    MEMORY_REGISTERED = 1u << 5, /* cuMemHostRegister: the client's own memory */
    MEMORY_GLOBAL = 1u << 6,     /* a module's global variable */
    MEMORY_GRAPH = 1u << 7       /* of an allocation node: lives as long as a graph that has it */
};
#define MEMORY_ON_DEVICE                                                                                     \
    (MEMORY_DEVICE | MEMORY_MANAGED | MEMORY_ASYNC | MEMORY_MAPPED | MEMORY_GLOBAL | MEMORY_GRAPH)
#define MEMORY_ON_HOST (MEMORY_PINNED | MEMORY_REGISTERED)
#define MEMORY_ANY     (MEMORY_ON_DEVICE | MEMORY_ON_HOST)

struct memory_range {
    CUdeviceptr address;
    size_t bytes;
    enum memory_kind kind;
    unsigned flags;
    struct CUctx_st *context;
    uint64_t context_id;           /* 0: belongs to no context */
    struct device *device;         /* charged with it; NULL for host memory */
    CUmemoryPool pool;             /* MEMORY_ASYNC */
    struct allocation *allocation; /* MEMORY_MAPPED */
    uint64_t id;
};

/* Zeroed memory. `range` says what for; address and id are filled in. OUT_OF_MEMORY beyond what the device
 * has. */
CUresult memory_allocate(struct memory_range *range);
/* Ranges whose memory someone else owns: MEMORY_REGISTERED, MEMORY_MAPPED. */
CUresult memory_register(struct memory_range *range);
/* Frees the range that starts at `address`: INVALID_VALUE unless there is one of a kind in `kinds`. */
CUresult memory_release(CUdeviceptr address, unsigned kinds);
/* The range that `address` lies in. */
bool memory_find(CUdeviceptr address, struct memory_range *range);
/* Whether [address, address + bytes) is known memory of one of `kinds`. */
bool memory_holds(CUdeviceptr address, size_t bytes, unsigned kinds);

/* Frees what belongs to the context. */
void memory_context_ended(struct CUctx_st *context);

CUresult memory_check_copy(const CUDA_MEMCPY3D *copy);
CUresult memory_check_fill(const CUDA_MEMSET_NODE_PARAMS *fill);
void memory_copy(const CUDA_MEMCPY3D *copy);
void memory_fill(const CUDA_MEMSET_NODE_PARAMS *fill);

/* Stream memory operations: waits for, or writes, a value. */
bool memory_word_ready(const CUstreamBatchMemOpParams *word);
void memory_word(const CUstreamBatchMemOpParams *word);

#endif
