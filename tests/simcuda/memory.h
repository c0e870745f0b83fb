/* Device memory. A device address is the address of host memory that lies behind it, so copies are memcpy. */
#ifndef SIMCUDA_MEMORY_H
#define SIMCUDA_MEMORY_H

#include "context.h"
#include "object.h"
#include "operation.h"

enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_MANAGED,
    MEMORY_PINNED,
    MEMORY_REGISTERED,
    MEMORY_ASYNC,
    MEMORY_MAPPED
};

struct memory_range {
    CUdeviceptr address;
    size_t bytes;
    enum memory_kind kind;
    unsigned flags;
    struct CUctx_st *context; /* NULL: belongs to no context */
    struct device *device;
    CUmemoryPool pool; /* MEMORY_ASYNC */
    uint64_t id;
};

/* Allocates zeroed memory on `device`; OUT_OF_MEMORY beyond what the device has. */
CUresult memory_allocate(struct device *device, struct CUctx_st *context, size_t bytes, enum memory_kind kind,
                         CUdeviceptr *address);
/* INVALID_VALUE unless `address` starts a range of one of the kinds in `kinds` (bits). */
CUresult memory_release(CUdeviceptr address, unsigned kinds);
/* The range that `address` lies in. */
bool memory_find(CUdeviceptr address, struct memory_range *range);

void memory_context_ended(struct CUctx_st *context);

/* Checks and executes. Addresses that claim to be the device's must lie in a range. */
CUresult memory_check_copy(const CUDA_MEMCPY3D *copy);
CUresult memory_check_fill(const CUDA_MEMSET_NODE_PARAMS *fill);
void memory_copy(const CUDA_MEMCPY3D *copy);
void memory_fill(const CUDA_MEMSET_NODE_PARAMS *fill);
/* CU_STREAM_MEM_OP_*: waits for or writes a value. */
void memory_word(const CUstreamBatchMemOpParams *word);

#endif
