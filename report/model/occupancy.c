/* Blocks per SM from the five limits: threads, block slots, registers, shared memory, barriers. */
#include "model/occupancy.h"

#include <limits.h>
#include <string.h>

enum {
    WARP_LANES = 32,
    REGISTERS_PER_THREAD_MAX = 255,
    REGISTER_UNIT = 256, /* registers are handed to a warp in this unit, on every capability from 3.0 */
    BARRIERS_MAX = 16
};

static const int carveouts_volta[] = {0, 8, 16, 32, 64, 96, -1};
static const int carveouts_turing[] = {32, 64, -1};
static const int carveouts_100[] = {0, 8, 16, 32, 64, 100, -1};
static const int carveouts_164[] = {0, 8, 16, 32, 64, 100, 132, 164, -1};
static const int carveouts_228[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228, -1};

#define KB *1024
static const struct occupancy_sm capabilities[] = {
#define CAPABILITY(cc, threads_, blocks_, registers_, registers_block, shared_kb, optin_kb, reserved_kb,     \
                   unit, partitions, barriers_, carveouts)                                                   \
    {.compute_capability = (cc),                                                                             \
     .threads = (threads_),                                                                                  \
     .blocks = (blocks_),                                                                                    \
     .registers = (registers_),                                                                              \
     .registers_per_block = (registers_block),                                                               \
     .shared_bytes = (shared_kb)KB,                                                                          \
     .shared_per_block_bytes = 48 KB,                                                                        \
     .shared_per_block_optin_bytes = (optin_kb)KB,                                                           \
     .shared_reserved_bytes = (reserved_kb)KB,                                                               \
     .shared_unit_bytes = (unit),                                                                            \
     .carveouts_kb = (carveouts),                                                                            \
     .sub_partitions = (partitions),                                                                         \
     .barriers = (barriers_),                                                                                \
     .threads_per_block = 1024,                                                                              \
     .estimated = false},
#include "model/capabilities.def"
#undef CAPABILITY
};
#define CAPABILITIES ((int)(sizeof capabilities / sizeof capabilities[0]))

const char *const limiter_names[LIMITER_KINDS] = {"threads",  "blocks",  "registers", "shared_memory",
                                                  "barriers", "cluster", "driver"};

size_t limiters_text(unsigned limiters, char text[LIMITERS_TEXT_BYTES])
{
    char *end = text;
    *end = '\0';
    for (int kind = 0; kind < LIMITER_KINDS; kind++) {
        if (limiters & 1u << kind) {
            end = stpcpy(end == text ? end : stpcpy(end, "+"), limiter_names[kind]);
        }
    }
    return (size_t)(end - text);
}

bool occupancy_sm_of_capability(int compute_capability, struct occupancy_sm *sm)
{
    int newest_below = -1;
    for (int i = 0; i < CAPABILITIES; i++) {
        if (capabilities[i].compute_capability <= compute_capability) {
            newest_below = i;
        }
    }
    if (newest_below < 0) {
        return false;
    }
    *sm = capabilities[newest_below];
    if (sm->compute_capability != compute_capability) {
        /* Gaps below 8.7 are capabilities that never existed. */
        sm->estimated = true;
        sm->compute_capability = compute_capability;
        return compute_capability > 87;
    }
    return true;
}

int occupancy_capability_listed(int index)
{
    return index >= 0 && index < CAPABILITIES ? capabilities[index].compute_capability : 0;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int round_up(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

static enum occupancy_error check(const struct occupancy_sm *sm, const struct occupancy_launch *launch)
{
    if (sm->threads < WARP_LANES || sm->blocks < 1 || sm->registers < 1 || sm->registers_per_block < 1 ||
        sm->shared_bytes < 1 || sm->shared_per_block_bytes < 1 || sm->shared_unit_bytes < 1 ||
        sm->sub_partitions < 1 || sm->shared_reserved_bytes < 0 || sm->threads_per_block < 1) {
        return OCCUPANCY_BAD_SM;
    }
    if (launch->threads < 1 || launch->threads > sm->threads_per_block) {
        return OCCUPANCY_BAD_THREADS;
    }
    if (launch->registers_per_thread < 0 || launch->registers_per_thread > REGISTERS_PER_THREAD_MAX) {
        return OCCUPANCY_BAD_REGISTERS;
    }
    /* Beyond 1 GiB the sums below could overflow; no SM comes near. */
    if (launch->static_shared_bytes < 0 || launch->static_shared_bytes > 1 << 30 ||
        launch->dynamic_shared_bytes < 0 || launch->dynamic_shared_bytes > 1 << 30 ||
        launch->max_dynamic_shared_bytes < -1 || launch->max_dynamic_shared_bytes > 1 << 30) {
        return OCCUPANCY_BAD_SHARED;
    }
    if (launch->barriers < 0 || launch->barriers > BARRIERS_MAX) {
        return OCCUPANCY_BAD_BARRIERS;
    }
    if (launch->carveout_percent < -1 || launch->carveout_percent > 100) {
        return OCCUPANCY_BAD_CARVEOUT;
    }
    return OCCUPANCY_OK;
}

/* A warp's registers live in one sub-partition, so what is left over in each of them is lost. */
static int limit_by_registers(const struct occupancy_sm *sm, int registers_per_warp, int warps,
                              int sub_partitions)
{
    /* The hardware checks a block against registers_per_block as if all sub-partitions took equal shares. */
    if (registers_per_warp * round_up(warps, sub_partitions) > sm->registers_per_block) {
        return 0;
    }
    if (registers_per_warp == 0) {
        return INT_MAX;
    }
    return sm->registers / sub_partitions / registers_per_warp * sub_partitions / warps;
}

static void apply_registers(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                            struct occupancy *result)
{
    int per_warp = round_up(launch->registers_per_thread * WARP_LANES, REGISTER_UNIT);
    int warps = result->warps_per_block;
    result->registers_per_block_allocated = per_warp * warps;
    result->limit_registers = limit_by_registers(sm, per_warp, warps, sm->sub_partitions);
    /* GP100 has two sub-partitions, the rest of the Pascal family four, and the driver refuses on GP100 what
     * could not run on the others. */
    if (sm->compute_capability == 60 && limit_by_registers(sm, per_warp, warps, 4) == 0) {
        result->limit_registers = 0;
    }
}

/* The smallest carve-out of at least `bytes`. */
static int carveout_for(const struct occupancy_sm *sm, int bytes)
{
    for (const int *kb = sm->carveouts_kb; *kb >= 0; kb++) {
        if (*kb KB >= bytes) {
            return smaller(*kb KB, sm->shared_bytes);
        }
    }
    return sm->shared_bytes;
}

/* A preference is a hint: it gives way where one block would not fit. */
static int carveout_in_force(const struct occupancy_sm *sm, int carveout_percent, int allocated_bytes)
{
    if (!sm->carveouts_kb) {
        return sm->shared_bytes;
    }
    int preferred_bytes =
        carveout_percent < 0 ? sm->shared_bytes : (int)((long long)sm->shared_bytes * carveout_percent / 100);
    int configured = carveout_for(sm, preferred_bytes);
    return configured >= allocated_bytes ? configured : carveout_for(sm, allocated_bytes);
}

static void apply_shared(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                         struct occupancy *result)
{
    int most_dynamic = launch->max_dynamic_shared_bytes < 0 ? launch->dynamic_shared_bytes
                                                            : launch->max_dynamic_shared_bytes;
    int fixed = launch->static_shared_bytes + sm->shared_reserved_bytes;
    int allocated = round_up(fixed + launch->dynamic_shared_bytes, sm->shared_unit_bytes);
    /* A kernel opts in to more than 48 KB by raising its maximum of dynamic shared memory. */
    bool opted_in = sm->carveouts_kb && fixed + most_dynamic > sm->shared_per_block_bytes;
    int block_limit = sm->shared_reserved_bytes +
                      (opted_in ? sm->shared_per_block_optin_bytes : sm->shared_per_block_bytes);
    result->shared_per_block_allocated_bytes = allocated;
    result->shared_configured_bytes = carveout_in_force(sm, launch->carveout_percent, allocated);
    if (launch->dynamic_shared_bytes > most_dynamic || allocated > block_limit) {
        result->limit_shared_memory = 0;
    } else {
        result->limit_shared_memory = allocated == 0 ? INT_MAX : result->shared_configured_bytes / allocated;
    }
}

static void conclude(const struct occupancy_sm *sm, int blocks, struct occupancy *result)
{
    const int most_warps = sm->threads / WARP_LANES;
    result->blocks_per_sm = blocks;
    result->warps_per_sm = blocks * result->warps_per_block;
    result->theoretical_occupancy = (double)result->warps_per_sm / most_warps;
}

static unsigned limiters_at(const struct occupancy *result, int blocks)
{
    return (result->limit_threads == blocks ? LIMITER_THREADS : 0u) |
           (result->limit_blocks == blocks ? LIMITER_BLOCKS : 0u) |
           (result->limit_registers == blocks ? LIMITER_REGISTERS : 0u) |
           (result->limit_shared_memory == blocks ? LIMITER_SHARED_MEMORY : 0u) |
           (result->limit_barriers == blocks ? LIMITER_BARRIERS : 0u);
}

static int least_limit(const struct occupancy *result)
{
    int least = smaller(result->limit_threads, result->limit_blocks);
    least = smaller(least, result->limit_registers);
    least = smaller(least, result->limit_shared_memory);
    return smaller(least, result->limit_barriers);
}

enum occupancy_error occupancy_compute(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                                       struct occupancy *result)
{
    enum occupancy_error error = check(sm, launch);
    if (error != OCCUPANCY_OK) {
        return error;
    }
    result->warps_per_block = round_up(launch->threads, WARP_LANES) / WARP_LANES;
    result->limit_threads = sm->threads / WARP_LANES / result->warps_per_block;
    result->limit_blocks = sm->blocks;
    result->limit_barriers =
        sm->barriers > 0 && launch->barriers > 0 ? sm->barriers / launch->barriers : INT_MAX;
    apply_registers(sm, launch, result);
    apply_shared(sm, launch, result);
    conclude(sm, least_limit(result), result);
    result->limiters = limiters_at(result, result->blocks_per_sm);
    return OCCUPANCY_OK;
}

void occupancy_apply_driver(struct occupancy *result, const struct occupancy_sm *sm, int driver_blocks_per_sm)
{
    int explained = least_limit(result);
    result->limiters = driver_blocks_per_sm < explained ? LIMITER_DRIVER : limiters_at(result, explained);
    conclude(sm, driver_blocks_per_sm, result);
}
