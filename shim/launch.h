/* One request to run a kernel, as the hooks hand it to the recorder. Its shape packs into three words, which
 * are what the hot path compares; shapes beyond the packing take the slow path, and are as exact. */
#ifndef WARPWATCH_LAUNCH_H
#define WARPWATCH_LAUNCH_H

#include "driver.h"
#include "platform.h"

/* The low bits are STORE_LAUNCH_*. */
enum launch_flags {
    LAUNCH_COOPERATIVE = 1 << 0,
    LAUNCH_PDL = 1 << 1,
    LAUNCH_MULTIDEVICE = 1 << 2,
    LAUNCH_STORED_FLAGS = LAUNCH_COOPERATIVE | LAUNCH_PDL | LAUNCH_MULTIDEVICE,
    LAUNCH_RUNTIME = 1 << 3,    /* made through a shared libcudart */
    LAUNCH_PER_THREAD = 1 << 4, /* stream 0 means the thread's own default stream */
    LAUNCH_GRAPH = 1 << 5,      /* `function` is an executable graph, there is no shape */
    LAUNCH_FURTHER = 1 << 6,    /* any shape of the function: beyond the limit of configurations */
    LAUNCH_FLAG_BITS = 10
};

struct launch {
    void *function; /* CUfunction, CUkernel or CUgraphExec */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 0 = not asked for */
    uint32_t preferred_cluster[3];
    uint32_t shared_bytes;
    uint32_t flags;
    CUstream stream;
};

struct launch_words {
    uint64_t function;
    uint64_t grid;   /* x 32, y 16, z 16 bits */
    uint64_t block;  /* x 11, y 11, z 7 bits; dynamic shared memory in the high half */
    uint64_t extras; /* flags 10, cluster 3 × 9, preferred cluster 3 × 9 bits */
    uint64_t place;  /* context, where a handle alone does not say on which device it runs */
};

static ALWAYS_INLINE uint64_t launch_grid_word(uint32_t x, uint32_t y, uint32_t z)
{
    return (uint64_t)x | (uint64_t)y << 32 | (uint64_t)z << 48;
}

static ALWAYS_INLINE uint64_t launch_block_word(uint32_t x, uint32_t y, uint32_t z, uint32_t shared_bytes)
{
    return (uint64_t)(x | y << 11 | z << 22) | (uint64_t)shared_bytes << 32;
}

/* The driver's own limits are far below these; a launch beyond them has not been seen to succeed. */
static ALWAYS_INLINE bool launch_packs(uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                                       uint32_t block_z)
{
    return ((grid_y | grid_z) >> 16 | (block_x | block_y) >> 11 | block_z >> 7) == 0;
}

enum { LAUNCH_CLUSTER_BITS = 9 };

/* Three dimensions of a cluster; they go behind the flags, the preferred cluster behind the other. */
static ALWAYS_INLINE uint64_t launch_cluster_word(uint32_t x, uint32_t y, uint32_t z, bool preferred)
{
    uint64_t word = (uint64_t)x | (uint64_t)y << LAUNCH_CLUSTER_BITS | (uint64_t)z << 2 * LAUNCH_CLUSTER_BITS;
    return word << (LAUNCH_FLAG_BITS + (preferred ? 3 * LAUNCH_CLUSTER_BITS : 0));
}

static ALWAYS_INLINE bool launch_cluster_packs(uint32_t x, uint32_t y, uint32_t z)
{
    return (x | y | z) >> LAUNCH_CLUSTER_BITS == 0;
}

/* Words that stand for every shape of the function: launches of it that are counted for the kernel only. */
static ALWAYS_INLINE void launch_any_shape(struct launch_words *words)
{
    words->grid = words->block = 0;
    words->extras = LAUNCH_FURTHER | (words->extras & LAUNCH_RUNTIME);
}

bool launch_pack(const struct launch *launch, struct launch_words *words);
void launch_unpack(const struct launch_words *words, CUstream stream, struct launch *launch);

#endif
