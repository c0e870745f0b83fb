/* Named cases of the occupancy model: what it must say of launches whose answer is known. The whole space is
 * compared in test_occupancy_oracle.c. */
#include <limits.h>
#include <math.h>

#include "report/model/occupancy.h"
#include "tests/unit/test.h"

enum { KB = 1024 };

static const struct occupancy_launch plain = {.carveout_percent = -1, .max_dynamic_shared_bytes = -1};

static struct occupancy_sm sm_of(int capability)
{
    struct occupancy_sm sm;
    assert_true(occupancy_sm_of_capability(capability, &sm));
    return sm;
}

static struct occupancy computed(int capability, struct occupancy_launch launch)
{
    struct occupancy_sm sm = sm_of(capability);
    struct occupancy result;
    assert_int_equal(occupancy_compute(&sm, &launch, &result), OCCUPANCY_OK);
    return result;
}

static struct occupancy_launch launch_of(int threads, int registers, int static_shared_bytes)
{
    struct occupancy_launch launch = plain;
    launch.threads = threads;
    launch.registers_per_thread = registers;
    launch.static_shared_bytes = static_shared_bytes;
    return launch;
}

static void assert_occupancy(int capability, struct occupancy_launch launch, int blocks, double percent)
{
    struct occupancy result = computed(capability, launch);
    assert_int_equal(result.blocks_per_sm, blocks);
    assert_true(fabs(result.theoretical_occupancy * 100 - percent) < 0.05);
}

static void golden_128_threads_40_registers(void **state)
{
    (void)state;
    assert_occupancy(89, launch_of(128, 40, 0), 12, 100);
    assert_occupancy(90, launch_of(128, 40, 0), 12, 75);
    assert_occupancy(100, launch_of(128, 40, 0), 12, 75);
    assert_occupancy(120, launch_of(128, 40, 0), 12, 100);
}

static void golden_256_threads_65_registers(void **state)
{
    (void)state;
    assert_occupancy(89, launch_of(256, 65, 0), 3, 50);
    assert_occupancy(90, launch_of(256, 65, 0), 3, 37.5);
    assert_occupancy(100, launch_of(256, 65, 0), 3, 37.5);
    assert_occupancy(120, launch_of(256, 65, 0), 3, 50);
}

static void golden_48_kb_static_shared(void **state)
{
    (void)state;
    assert_occupancy(89, launch_of(128, 32, 48 * KB), 2, 16.7);
    assert_occupancy(90, launch_of(128, 32, 48 * KB), 4, 25);
    assert_occupancy(100, launch_of(128, 32, 48 * KB), 4, 25);
    assert_occupancy(120, launch_of(128, 32, 48 * KB), 2, 16.7);
}

static void golden_16_barriers(void **state)
{
    (void)state;
    struct occupancy_launch launch = launch_of(128, 32, 0);
    launch.barriers = 16;
    assert_occupancy(89, launch, 12, 100);
    assert_occupancy(90, launch, 4, 25);
    assert_occupancy(100, launch, 4, 25);
    assert_occupancy(120, launch, 1, 8.3);
    assert_int_equal(computed(90, launch).limiters, LIMITER_BARRIERS);
}

/* The worked examples of teaching texts, on an SM of 2048 threads, 32 blocks, 65,536 registers, 228 KB. */
static void worked_examples(void **state)
{
    (void)state;
    assert_occupancy(90, launch_of(768, 32, 0), 2, 75);
    assert_int_equal(computed(90, launch_of(768, 32, 0)).limiters, LIMITER_THREADS | LIMITER_REGISTERS);
    assert_occupancy(90, launch_of(32, 32, 0), 32, 50);
    assert_int_equal(computed(90, launch_of(32, 32, 0)).limiters, LIMITER_BLOCKS);
    assert_occupancy(90, launch_of(256, 64, 0), 4, 50);
    assert_occupancy(90, launch_of(256, 96, 0), 2, 25);
    assert_occupancy(90, launch_of(256, 128, 0), 2, 25);
    assert_occupancy(90, launch_of(256, 255, 0), 1, 12.5);
    struct occupancy_launch shared = launch_of(256, 32, 0);
    shared.dynamic_shared_bytes = 100 * KB;
    assert_occupancy(90, shared, 2, 25);
    assert_int_equal(computed(90, shared).limiters, LIMITER_SHARED_MEMORY);
}

static void registers_live_in_sub_partitions(void **state)
{
    (void)state;
    assert_int_equal(computed(90, launch_of(7 * 32, 88, 0)).blocks_per_sm, 2); /* 3 if they were one pool */
    assert_int_equal(computed(90, launch_of(800, 80, 0)).blocks_per_sm, 0);
    assert_int_equal(computed(90, launch_of(800, 80, 0)).limiters, LIMITER_REGISTERS);
}

/* How often the one-pool formula is wrong on 9.0, over (16 … 255 registers) × (1 … 32 warps). */
static void one_pool_of_registers_would_be_wrong_760_times(void **state)
{
    (void)state;
    int wrong = 0;
    for (int registers = 16; registers <= 255; registers++) {
        for (int warps = 1; warps <= 32; warps++) {
            int one_pool = 65536 / ((registers + 7) / 8 * 8 * 32 * warps);
            int by_threads = 64 / warps;
            int naive = one_pool < by_threads ? one_pool : by_threads;
            naive = naive < 32 ? naive : 32;
            wrong += computed(90, launch_of(warps * 32, registers, 0)).blocks_per_sm != naive;
        }
    }
    assert_int_equal(wrong, 760);
}

/* GP100 has two sub-partitions, but must refuse what GP102 with its four could not run. */
static void capability_6_0_needs_the_check_of_6_1(void **state)
{
    (void)state;
    struct occupancy_sm unchecked = sm_of(60);
    unchecked.compute_capability = 61; /* lifts the check, keeps the two sub-partitions */
    int differ = 0;
    for (int registers = 1; registers <= 255; registers++) {
        for (int warps = 1; warps <= 32; warps++) {
            struct occupancy_launch launch = launch_of(warps * 32, registers, 0);
            struct occupancy result;
            assert_int_equal(occupancy_compute(&unchecked, &launch, &result), OCCUPANCY_OK);
            differ += result.blocks_per_sm != computed(60, launch).blocks_per_sm;
        }
    }
    assert_int_equal(differ, 144);
}

static void carveout_0_is_most_l1_and_minus_1_the_drivers_choice(void **state)
{
    (void)state;
    struct occupancy_launch launch = launch_of(128, 32, 12 * KB);
    assert_int_equal(computed(90, launch).blocks_per_sm, 16);
    launch.carveout_percent = 0;
    assert_int_equal(computed(90, launch).blocks_per_sm, 1);
    assert_int_equal(computed(90, launch).shared_configured_bytes, 16 * KB);
    launch.carveout_percent = 100;
    assert_int_equal(computed(90, launch).blocks_per_sm, 16);
}

/* A Hopper GEMM: with the default limit of 48 KB it would seem not to run at all. */
static void more_than_48_kb_is_no_reason_for_0_percent(void **state)
{
    (void)state;
    struct occupancy_launch gemm = launch_of(384, 168, 0);
    gemm.dynamic_shared_bytes = 213 * KB;
    assert_int_equal(computed(90, gemm).blocks_per_sm, 1);
    gemm.max_dynamic_shared_bytes = 213 * KB;
    assert_int_equal(computed(90, gemm).blocks_per_sm, 1);
    gemm.max_dynamic_shared_bytes = 48 * KB;
    assert_int_equal(computed(90, gemm).blocks_per_sm, 0);
    assert_int_equal(computed(90, gemm).limiters, LIMITER_SHARED_MEMORY);
}

static void the_opt_in_limit_is_exact_to_the_byte(void **state)
{
    (void)state;
    struct occupancy_launch launch = launch_of(128, 32, 0);
    launch.dynamic_shared_bytes = 227 * KB;
    assert_int_equal(computed(90, launch).blocks_per_sm, 1);
    launch.dynamic_shared_bytes++;
    assert_int_equal(computed(90, launch).blocks_per_sm, 0);
}

static void all_tied_limiters_are_named(void **state)
{
    (void)state;
    assert_int_equal(computed(90, launch_of(256, 32, 27 * KB)).limiters,
                     LIMITER_THREADS | LIMITER_REGISTERS | LIMITER_SHARED_MEMORY);
    assert_int_equal(computed(90, launch_of(64, 32, 0)).limiters,
                     LIMITER_THREADS | LIMITER_BLOCKS | LIMITER_REGISTERS);
}

static void what_is_not_used_is_no_limit(void **state)
{
    (void)state;
    struct occupancy result = computed(70, launch_of(32, 0, 0));
    assert_int_equal(result.limit_registers, INT_MAX);
    assert_int_equal(result.limit_shared_memory, INT_MAX);
    assert_int_equal(result.limit_barriers, INT_MAX);
}

static void the_driver_decides_and_the_model_explains(void **state)
{
    (void)state;
    struct occupancy_sm sm = sm_of(100);
    struct occupancy result = computed(100, launch_of(256, 32, 0));
    assert_int_equal(result.blocks_per_sm, 8);
    occupancy_apply_driver(&result, &sm, 5);
    assert_int_equal(result.blocks_per_sm, 5);
    assert_int_equal(result.warps_per_sm, 40);
    assert_true(result.theoretical_occupancy == 0.625);
    assert_int_equal(result.limiters, LIMITER_DRIVER);
    occupancy_apply_driver(&result, &sm, 8);
    assert_int_equal(result.limiters, LIMITER_THREADS | LIMITER_REGISTERS);
    occupancy_apply_driver(&result, &sm, 9); /* more than the model thinks possible: still its explanation */
    assert_int_equal(result.blocks_per_sm, 9);
    assert_int_equal(result.limiters, LIMITER_THREADS | LIMITER_REGISTERS);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    const struct {
        struct occupancy_launch launch;
        enum occupancy_error error;
    } cases[] = {
        {launch_of(0, 32, 0), OCCUPANCY_BAD_THREADS},
        {launch_of(-1, 32, 0), OCCUPANCY_BAD_THREADS},
        {launch_of(1025, 32, 0), OCCUPANCY_BAD_THREADS},
        {launch_of(INT_MAX, 32, 0), OCCUPANCY_BAD_THREADS},
        {launch_of(32, -1, 0), OCCUPANCY_BAD_REGISTERS},
        {launch_of(32, 256, 0), OCCUPANCY_BAD_REGISTERS},
        {launch_of(32, 32, -1), OCCUPANCY_BAD_SHARED},
        {launch_of(32, 32, INT_MAX), OCCUPANCY_BAD_SHARED},
        {{.threads = 32, .dynamic_shared_bytes = INT_MIN}, OCCUPANCY_BAD_SHARED},
        {{.threads = 32, .max_dynamic_shared_bytes = -2}, OCCUPANCY_BAD_SHARED},
        {{.threads = 32, .barriers = 17}, OCCUPANCY_BAD_BARRIERS},
        {{.threads = 32, .carveout_percent = 101}, OCCUPANCY_BAD_CARVEOUT},
    };
    struct occupancy_sm sm = sm_of(90), empty = {0};
    struct occupancy result;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(occupancy_compute(&sm, &cases[i].launch, &result), cases[i].error);
    }
    struct occupancy_launch launch = launch_of(32, 32, 0);
    assert_int_equal(occupancy_compute(&empty, &launch, &result), OCCUPANCY_BAD_SM);
}

static void a_newer_capability_is_estimated_an_impossible_one_refused(void **state)
{
    (void)state;
    struct occupancy_sm sm;
    assert_true(occupancy_sm_of_capability(131, &sm));
    assert_true(sm.estimated);
    assert_int_equal(sm.compute_capability, 131);
    assert_int_equal(sm.threads, 1536);
    static const int impossible[] = {-1, 0, 35, 49, 51, 71, 81};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        assert_false(occupancy_sm_of_capability(impossible[i], &sm));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_128_threads_40_registers),
        cmocka_unit_test(golden_256_threads_65_registers),
        cmocka_unit_test(golden_48_kb_static_shared),
        cmocka_unit_test(golden_16_barriers),
        cmocka_unit_test(worked_examples),
        cmocka_unit_test(registers_live_in_sub_partitions),
        cmocka_unit_test(one_pool_of_registers_would_be_wrong_760_times),
        cmocka_unit_test(capability_6_0_needs_the_check_of_6_1),
        cmocka_unit_test(carveout_0_is_most_l1_and_minus_1_the_drivers_choice),
        cmocka_unit_test(more_than_48_kb_is_no_reason_for_0_percent),
        cmocka_unit_test(the_opt_in_limit_is_exact_to_the_byte),
        cmocka_unit_test(all_tied_limiters_are_named),
        cmocka_unit_test(what_is_not_used_is_no_limit),
        cmocka_unit_test(the_driver_decides_and_the_model_explains),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_newer_capability_is_estimated_an_impossible_one_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
