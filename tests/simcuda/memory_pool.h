/* Memory pools: where cuMemAllocAsync takes from. A pool is an account; the memory itself is memory.c's. */
#ifndef SIMCUDA_MEMORY_POOL_H
#define SIMCUDA_MEMORY_POOL_H

#include "device.h"
#include "object.h"

struct CUmemPoolHandle_st {
    struct object object;
    struct device *device;
    bool is_default;
    _Atomic uint64_t used_bytes, used_high_bytes;
    _Atomic uint64_t release_threshold;
    _Atomic int reuse[3]; /* CU_MEMPOOL_ATTR_REUSE_*, in order */
    _Atomic uint32_t peers;
};

/* The device's default pool, made on first use. */
struct CUmemPoolHandle_st *memory_pool_default(struct device *device);
void memory_pool_took(struct CUmemPoolHandle_st *pool, uint64_t bytes);
void memory_pool_gave(struct CUmemPoolHandle_st *pool, uint64_t bytes);

#endif
