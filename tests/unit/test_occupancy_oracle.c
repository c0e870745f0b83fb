/* The occupancy model against an independent oracle, NVIDIA's cuda_occupancy.h, over the whole space: every
 * capability, block size, register count, allocation unit of shared memory, carve-out and barrier count.
 * A tenth of the sweep by default, all of it with WARPWATCH_TEST_LONG=1. Prints how much it compared. */
#include <cuda_occupancy.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report/model/occupancy.h"
#include "tests/unit/test.h"

enum { KB = 1024 };

static const int capabilities[] = {50, 52, 53, 60, 61,  62,  70,  72,  75,  80,
                                   86, 87, 89, 90, 100, 101, 103, 110, 120, 121};
#define CAPABILITIES (int)(sizeof capabilities / sizeof *capabilities)

static struct {
    uint64_t compared;
    uint64_t stale_limiters; /* where the header's own list of limiters is out of date, see check_limiters */
    int stride;              /* 1: everything, 10: a tenth */
} sweep;

struct point {
    const struct occupancy_sm *sm;
    struct occupancy_launch launch;
};

static cudaOccDeviceProp oracle_device(const struct occupancy_sm *sm)
{
    return (cudaOccDeviceProp){
        .computeMajor = sm->compute_capability / 10,
        .computeMinor = sm->compute_capability % 10,
        .maxThreadsPerBlock = sm->threads_per_block,
        .maxThreadsPerMultiprocessor = sm->threads,
        .regsPerBlock = sm->registers_per_block,
        .regsPerMultiprocessor = sm->registers,
        .warpSize = 32,
        .sharedMemPerBlock = (size_t)sm->shared_per_block_bytes,
        .sharedMemPerMultiprocessor = (size_t)sm->shared_bytes,
        .numSms = 1,
        .sharedMemPerBlockOptin = (size_t)sm->shared_per_block_optin_bytes,
        .reservedSharedMemPerBlock = (size_t)sm->shared_reserved_bytes,
    };
}

static cudaOccResult oracle_answer(const struct point *point)
{
    const struct occupancy_launch *launch = &point->launch;
    const int most = launch->max_dynamic_shared_bytes;
    const cudaOccDeviceProp device = oracle_device(point->sm);
    const cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = 1024,
        .numRegs = launch->registers_per_thread,
        .sharedSizeBytes = (size_t)launch->static_shared_bytes,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = (size_t)(most < 0 ? launch->dynamic_shared_bytes : most),
        .numBlockBarriers = launch->barriers,
    };
    const cudaOccDeviceState state = {.carveoutConfig = launch->carveout_percent};
    cudaOccResult answer = {0};
    assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(&answer, &device, &kernel, &state,
                                                             launch->threads,
                                                             (size_t)launch->dynamic_shared_bytes),
                     CUDA_OCC_SUCCESS);
    return answer;
}

static void show(const struct point *point, const struct occupancy *ours, const cudaOccResult *theirs)
{
    const struct occupancy_launch *launch = &point->launch;
    print_error("cc %d: threads %d registers %d static %d dynamic %d (most %d) barriers %d carve-out %d\n"
                "  ours   %d blocks: threads %d blocks %d registers %d shared %d barriers %d, limiters %#x\n"
                "  theirs %d blocks: threads %d blocks %d registers %d shared %d barriers %d, limiters %#x\n",
                point->sm->compute_capability, launch->threads, launch->registers_per_thread,
                launch->static_shared_bytes, launch->dynamic_shared_bytes, launch->max_dynamic_shared_bytes,
                launch->barriers, launch->carveout_percent, ours->blocks_per_sm, ours->limit_threads,
                ours->limit_blocks, ours->limit_registers, ours->limit_shared_memory, ours->limit_barriers,
                ours->limiters, theirs->activeBlocksPerMultiprocessor, theirs->blockLimitWarps,
                theirs->blockLimitBlocks, theirs->blockLimitRegs, theirs->blockLimitSharedMem,
                theirs->blockLimitBarriers, theirs->limitingFactors);
}

static bool same_numbers(const struct occupancy *ours, const cudaOccResult *theirs)
{
    return ours->blocks_per_sm == theirs->activeBlocksPerMultiprocessor &&
           ours->limit_threads == theirs->blockLimitWarps && ours->limit_blocks == theirs->blockLimitBlocks &&
           ours->limit_registers == theirs->blockLimitRegs &&
           ours->limit_shared_memory == theirs->blockLimitSharedMem &&
           ours->limit_barriers == theirs->blockLimitBarriers &&
           ours->registers_per_block_allocated == theirs->allocatedRegistersPerBlock &&
           ours->shared_per_block_allocated_bytes == (int)theirs->allocatedSharedMemPerBlock;
}

/* The header fixes its list before it looks at barriers: where those allow fewer blocks than all else, the
 * list still names what limited before. Elsewhere it must be ours. */
static bool same_limiters(const struct occupancy *ours, const cudaOccResult *theirs)
{
    static const struct {
        unsigned theirs, ours;
    } names[] = {{OCC_LIMIT_WARPS, LIMITER_THREADS},
                 {OCC_LIMIT_BLOCKS, LIMITER_BLOCKS},
                 {OCC_LIMIT_REGISTERS, LIMITER_REGISTERS},
                 {OCC_LIMIT_SHARED_MEMORY, LIMITER_SHARED_MEMORY},
                 {OCC_LIMIT_BARRIERS, LIMITER_BARRIERS}};
    unsigned translated = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        translated |= theirs->limitingFactors & names[i].theirs ? names[i].ours : 0u;
    }
    if (translated == ours->limiters) {
        return true;
    }
    sweep.stale_limiters++;
    return ours->limiters == LIMITER_BARRIERS && (translated & LIMITER_BARRIERS);
}

static void compare(const struct point *point)
{
    struct occupancy ours;
    assert_int_equal(occupancy_compute(point->sm, &point->launch, &ours), OCCUPANCY_OK);
    const cudaOccResult theirs = oracle_answer(point);
    sweep.compared++;
    if (!same_numbers(&ours, &theirs) || !same_limiters(&ours, &theirs)) {
        show(point, &ours, &theirs);
        fail();
    }
}

static struct occupancy_sm sm_of(int capability)
{
    struct occupancy_sm sm;
    assert_true(occupancy_sm_of_capability(capability, &sm));
    assert_false(sm.estimated);
    return sm;
}

/* Every block size with every register count, beside several amounts of shared memory and barriers. */
static void all_block_sizes_and_registers(void **state)
{
    (void)state;
    static const int shared[] = {0,       1,       2 * KB,  3 * KB + 1, 5 * KB,  7 * KB,  8 * KB,  11 * KB,
                                 15 * KB, 16 * KB, 23 * KB, 31 * KB,    32 * KB, 40 * KB, 47 * KB, 48 * KB};
    static const int barriers[] = {0, 1, 2, 3, 5, 16};
    enum { SHARED = sizeof shared / sizeof *shared, BARRIERS = sizeof barriers / sizeof *barriers };
    int turn = 0;
    for (int c = 0; c < CAPABILITIES; c++) {
        const struct occupancy_sm sm = sm_of(capabilities[c]);
        struct point point = {&sm, {.carveout_percent = -1, .max_dynamic_shared_bytes = -1}};
        for (int i = 0; i < SHARED * BARRIERS; i++) {
            if (turn++ % sweep.stride) {
                continue;
            }
            point.launch.dynamic_shared_bytes = shared[i % SHARED];
            point.launch.barriers = barriers[i / SHARED];
            for (int threads = 1; threads <= 1024; threads++) {
                for (int registers = 0; registers <= 255; registers++) {
                    point.launch.threads = threads;
                    point.launch.registers_per_thread = registers;
                    compare(&point);
                }
            }
        }
    }
}

/* Splits `total` into static and dynamic in the ways that programs do, and raises the opt-in or does not. */
static void compare_splits(struct point *point, int total)
{
    const int static_parts[] = {0, total / 3, total, 48 * KB};
    for (size_t i = 0; i < sizeof static_parts / sizeof *static_parts; i++) {
        const int fixed = static_parts[i];
        if (fixed > total || fixed > 48 * KB) {
            continue;
        }
        const int dynamic = total - fixed;
        const int most[] = {-1, 48 * KB - fixed, point->sm->shared_per_block_optin_bytes - fixed,
                            dynamic - 1};
        for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
            point->launch.static_shared_bytes = fixed;
            point->launch.dynamic_shared_bytes = dynamic;
            point->launch.max_dynamic_shared_bytes = most[m];
            compare(point);
        }
    }
}

/* One byte below, at and above each allocation unit, up to beyond what a block can have. */
static void all_shared_memory_units_and_carveouts(void **state)
{
    (void)state;
    static const int threads[] = {32, 96, 256, 1024};
    int turn = 0;
    for (int c = 0; c < CAPABILITIES; c++) {
        const struct occupancy_sm sm = sm_of(capabilities[c]);
        const int end = sm.shared_per_block_optin_bytes + 2 * KB;
        for (int carveout = -1; carveout <= 100; carveout++) {
            if (turn++ % sweep.stride) {
                continue;
            }
            for (int unit = 0; unit <= end; unit += sm.shared_unit_bytes) {
                struct point point = {&sm,
                                      {.threads = threads[(unit / sm.shared_unit_bytes + carveout + 1) % 4],
                                       .registers_per_thread = 32,
                                       .carveout_percent = carveout}};
                compare_splits(&point, unit ? unit - 1 : 0);
                compare_splits(&point, unit);
                compare_splits(&point, unit + 1);
            }
        }
    }
}

static void all_barrier_counts(void **state)
{
    (void)state;
    int turn = 0;
    for (int c = 0; c < CAPABILITIES; c++) {
        const struct occupancy_sm sm = sm_of(capabilities[c]);
        for (int barriers = 0; barriers <= 16; barriers++) {
            for (int threads = 1; threads <= 1024; threads++) {
                for (int registers = 0; registers <= 255; registers += 8) {
                    if (turn++ % sweep.stride) {
                        continue;
                    }
                    const struct point point = {&sm,
                                                {.threads = threads,
                                                 .registers_per_thread = registers,
                                                 .static_shared_bytes = registers * 64,
                                                 .barriers = barriers,
                                                 .carveout_percent = -1,
                                                 .max_dynamic_shared_bytes = -1}};
                    compare(&point);
                }
            }
        }
    }
}

/* Marsaglia's xorshift64: the same points on every run. */
static int drawn(uint64_t *random, int below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (int)((*random >> 11) % (uint64_t)below);
}

/* All dimensions at once, also for SMs that offer less than the table says, as a driver may report. */
static void random_launches_on_random_sms(void **state)
{
    (void)state;
    uint64_t random = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 30 * 1000 * 1000 / sweep.stride; i++) {
        struct occupancy_sm sm = sm_of(capabilities[drawn(&random, CAPABILITIES)]);
        if (drawn(&random, 4) == 0) {
            sm.threads = 32 * (1 + drawn(&random, 64));
            sm.registers >>= drawn(&random, 3);
            sm.registers_per_block >>= drawn(&random, 3);
        }
        const int shared_end = sm.shared_per_block_optin_bytes + KB;
        const struct point point = {&sm,
                                    {.threads = 1 + drawn(&random, 1024),
                                     .registers_per_thread = drawn(&random, 256),
                                     .static_shared_bytes = drawn(&random, 2) * drawn(&random, 48 * KB + 1),
                                     .dynamic_shared_bytes = drawn(&random, 2) * drawn(&random, shared_end),
                                     .barriers = drawn(&random, 17),
                                     .carveout_percent = drawn(&random, 102) - 1,
                                     .max_dynamic_shared_bytes = drawn(&random, shared_end) - 1}};
        compare(&point);
    }
}

static void enough_was_compared(void **state)
{
    (void)state;
    print_message("%" PRIu64
                  " comparisons on %d capabilities, no difference in blocks and limits; the header's "
                  "list of limiters was stale for %" PRIu64 "\n",
                  sweep.compared, CAPABILITIES, sweep.stale_limiters);
    assert_true(sweep.compared >= 100000000u / (unsigned)sweep.stride);
    assert_true(sweep.stale_limiters > 0);
}

int main(void)
{
    const char *is_long = getenv("WARPWATCH_TEST_LONG");
    sweep.stride = is_long && *is_long == '1' ? 1 : 10;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    sweep.stride = 100; /* twenty times slower, and after other faults */
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_block_sizes_and_registers),
        cmocka_unit_test(all_shared_memory_units_and_carveouts),
        cmocka_unit_test(all_barrier_counts),
        cmocka_unit_test(random_launches_on_random_sms),
        cmocka_unit_test(enough_was_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
