/* Theoretical occupancy: how many blocks of a launch fit on one SM at once, and what stops a further one.
 *
 * Pure arithmetic, no I/O, no allocation. Equal to NVIDIA's cuda_occupancy.h over the whole space
 * (tests/unit). Words: a *limit* is the number of blocks that one resource alone would allow; a *limiter* is
 * a limit equal to the least of them. Explained with examples in docs/occupancy.md. */
#ifndef WARPWATCH_OCCUPANCY_H
#define WARPWATCH_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>

/* What one SM offers. From the driver's attributes when there is a device, else from the built-in table. */
struct occupancy_sm {
    int compute_capability; /* 10 × major + minor: 90 = 9.0, 121 = 12.1 */
    int threads;
    int blocks;
    int registers;
    int registers_per_block;
    int shared_bytes;
    int shared_per_block_bytes;       /* without opting in */
    int shared_per_block_optin_bytes; /* the most a block can have, static + dynamic */
    int shared_reserved_bytes;        /* taken by the system from each block */
    int shared_unit_bytes;
    const int
        *carveouts_kb; /* sizes that the shared part of L1 can take, ascending, ended by -1; NULL: fixed */
    int sub_partitions;
    int barriers;          /* 0: not a limit on this capability */
    int threads_per_block; /* 1024 */
    bool estimated;        /* capability newer than the table: the newest known one stands in */
};

struct occupancy_launch {
    int threads;              /* per block, 1 … threads_per_block */
    int registers_per_thread; /* 0 … 255 */
    int static_shared_bytes;
    int dynamic_shared_bytes;
    int barriers;                 /* 0 … 16; in no driver attribute, only in the cubin */
    int carveout_percent;         /* 0 … 100 of the SM's shared memory, -1 = driver's choice */
    int max_dynamic_shared_bytes; /* function attribute; -1 = as large as the launch needs */
};

enum occupancy_limiter {
    LIMITER_THREADS = 1u << 0,
    LIMITER_BLOCKS = 1u << 1,
    LIMITER_REGISTERS = 1u << 2,
    LIMITER_SHARED_MEMORY = 1u << 3,
    LIMITER_BARRIERS = 1u << 4,
    LIMITER_CLUSTER = 1u << 5,
    LIMITER_DRIVER = 1u << 6 /* the driver allows fewer than the limits above explain */
};
#define LIMITER_KINDS 7
/* "threads", "blocks", "registers", "shared_memory", "barriers", "cluster", "driver" by bit number. */
extern const char *const limiter_names[LIMITER_KINDS];

/* "registers+shared_memory", and its length. */
enum { LIMITERS_TEXT_BYTES = 64 };
size_t limiters_text(unsigned limiters, char text[LIMITERS_TEXT_BYTES]);

struct occupancy {
    int limit_threads, limit_blocks, limit_registers, limit_shared_memory;
    int limit_barriers; /* INT_MAX where barriers do not limit */
    int blocks_per_sm;  /* 0: cannot run */
    int warps_per_block;
    int warps_per_sm;
    double theoretical_occupancy; /* 0–1, of the SM's warps */
    unsigned limiters;            /* enum occupancy_limiter, all that tie */
    int registers_per_block_allocated;
    int shared_per_block_allocated_bytes;
    int shared_configured_bytes; /* carve-out in force */
};

enum occupancy_error {
    OCCUPANCY_OK,
    OCCUPANCY_BAD_SM,
    OCCUPANCY_BAD_THREADS,
    OCCUPANCY_BAD_REGISTERS,
    OCCUPANCY_BAD_SHARED,
    OCCUPANCY_BAD_BARRIERS,
    OCCUPANCY_BAD_CARVEOUT
};

/* Fills `sm` from the built-in table; 2.x–4.x and unknown lower ones: false. A capability above the table's
 * newest is filled from the newest with `estimated` set. */
bool occupancy_sm_of_capability(int compute_capability, struct occupancy_sm *sm);

/* The capabilities of the table, oldest first; 0 at and after its end. */
int occupancy_capability_listed(int index);

enum occupancy_error occupancy_compute(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                                       struct occupancy *result);

/* The driver's own answer decides: lowers or raises blocks_per_sm to it, and sets LIMITER_DRIVER where the
 * model's limits allow more than the driver does. */
void occupancy_apply_driver(struct occupancy *result, const struct occupancy_sm *sm,
                            int driver_blocks_per_sm);

#endif
