/* Rules about what limits occupancy and about what was measured, on both sides of their thresholds. */
#include "test.h"

#include "findings_scene.h"

/* --- occupancy ----------------------------------------------------------------------------------------- */

static void occupancy_at_the_threshold(void **state)
{
    (void)state;
    struct scene *scene = scene_of(100 * SLOTS, 256);
    scene->configuration.judged.limiters = LIMITER_REGISTERS;
    scene->configuration.judged.theoretical_occupancy = threshold_occupancy_enough;
    assert_string_equal(speaking(scene), "none");
    scene->configuration.judged.theoretical_occupancy = 0.79;
    assert_string_equal(speaking(scene), "occupancy-registers");
    scene->configuration.judged.waves = 0.99;
    assert_string_equal(speaking(scene), "none");
}

static void occupancy_registers(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1320000, 256);
    scene->kernel.registers_per_thread = 65;
    scene_judge(scene);
    assert_says(scene, "occupancy-registers",
                "65 registers a thread let 3 blocks of 8 warps on an SM, 37.5 % of its warps.",
                "With at most 64 registers a thread, 4 blocks fit on an SM, 50 % of its warps: "
                "__launch_bounds__(256, 4).");
}

static void fewer_registers_are_no_gift_to_a_kernel_that_spills(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1320000, 256);
    scene->kernel.registers_per_thread = 65;
    scene->kernel.local_bytes = 880;
    scene_judge(scene);
    struct sentence advice = {.bytes = 0};
    rule_named("occupancy-registers")->advice(&scene->subject, &advice);
    assert_string_equal(advice.text,
                        "With at most 64 registers a thread, 4 blocks fit on an SM, 50 % of its warps: "
                        "__launch_bounds__(256, 4); measure it, for 880 bytes a thread are in local "
                        "memory already.");
}

static void occupancy_shared_memory(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1320000, 256);
    scene->configuration.dynamic_shared_bytes = 100 * 1024;
    scene_judge(scene);
    assert_says(
        scene, "occupancy-shared-memory",
        "100 KB of shared memory a block let 2 blocks of 8 warps on an SM, 25 % of its warps.",
        "With at most 76,800 bytes of shared memory a block, 3 blocks fit on an SM, 37.5 % of its warps.");
}

static void occupancy_barriers(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1320000, 128);
    scene->barriers = 16;
    scene_judge(scene);
    assert_says(scene, "occupancy-barriers",
                "16 barriers a block let 4 blocks of 4 warps on an SM, 25 % of its warps.",
                "With at most 12 barriers a block, 5 blocks fit on an SM, 31.3 % of its warps.");
}

static void occupancy_block_slots(void **state)
{
    (void)state;
    assert_says(scene_of(1320000, 32), "occupancy-block-slots",
                "32 block slots of an SM let 32 blocks of 1 warp on an SM, 50 % of its warps.",
                "With blocks of 64 threads, 32 blocks fit on an SM, 100 % of its warps.");
}

static void occupancy_block_size(void **state)
{
    (void)state;
    assert_string_equal(speaking(scene_of(1320000, 768)), "occupancy-block-size");
    assert_string_equal(speaking(scene_of(1320000, 1024)), "none");
}

static void occupancy_driver(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1320000, 256);
    scene->configuration.valid = STORE_CONFIGURATION_BLOCKS;
    scene->configuration.driver_blocks_per_sm = 6;
    scene_judge(scene);
    assert_says(
        scene, "occupancy-driver",
        "The driver lets 6 blocks on an SM, 75 % of its warps; threads, registers and shared memory allow 8.",
        "Try another block size: the driver counts a resource that no documented limit names.");
}

static void tied_limits_are_all_named(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1320000, 256);
    scene->kernel.registers_per_thread = 128;
    scene->configuration.dynamic_shared_bytes = 100 * 1024;
    scene_judge(scene);
    struct sentence evidence = {.bytes = 0};
    assert_string_equal(speaking(scene), "occupancy-registers");
    rule_named("occupancy-registers")->evidence(&scene->subject, &evidence);
    assert_non_null(strstr(evidence.text, "(no more with shared memory)"));
}

static void local_memory(void **state)
{
    (void)state;
    struct scene *scene = scene_of(SLOTS, 256);
    scene->kernel.local_bytes = 31;
    assert_string_equal(speaking(scene), "none");
    scene->kernel.local_bytes = 32;
    assert_string_equal(speaking(scene), "local-memory");
    scene->kernel.valid = 0;
    assert_string_equal(speaking(scene), "none");
}

/* --- measured ------------------------------------------------------------------------------------------ */

static struct store_measurement *measured_scene(struct scene **scene, unsigned valid)
{
    *scene = scene_of(100 * SLOTS, 256);
    (*scene)->configuration.measured.valid = valid;
    return &(*scene)->configuration.measured;
}

static void achieved_below_theoretical(void **state)
{
    (void)state;
    struct scene *scene;
    struct store_measurement *measured = measured_scene(&scene, STORE_MEASURED_OCCUPANCY);
    measured->achieved_occupancy = 0.901;
    assert_string_equal(speaking(scene), "none");
    measured->achieved_occupancy = 0.899;
    assert_string_equal(speaking(scene), "achieved-below-theoretical");
    scene->configuration.labels = LABEL_PERSISTENT;
    assert_string_equal(speaking(scene), "none");
    scene->configuration.labels = 0;
    measured->valid = 0;
    assert_string_equal(speaking(scene), "none");
}

static void divergence(void **state)
{
    (void)state;
    struct scene *scene;
    struct store_measurement *measured =
        measured_scene(&scene, STORE_MEASURED_LANES | STORE_MEASURED_BRANCHES);
    measured->branch_efficiency = 0.82;
    measured->lane_utilization = 0.75;
    assert_string_equal(speaking(scene), "none");
    measured->lane_utilization = 0.5;
    assert_says(
        scene, "divergence",
        "16 of 32 lanes take part in the average instruction; 82 % of the branches keep a warp together.",
        "Sort or group the work so that the 32 threads of a warp take the same path.");
}

/* 100 threads can use 78 % of their lanes: 60 % of all is 77 % of those. */
static void lanes_without_a_thread_are_not_divergence(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1320000, 100);
    scene->configuration.measured =
        (struct store_measurement){.valid = STORE_MEASURED_LANES, .lane_utilization = 0.6};
    assert_string_equal(speaking(scene), "block-not-warp-multiple");
    scene->configuration.measured.lane_utilization = 0.58;
    assert_string_equal(speaking(scene), "several");
}

static void uncoalesced(void **state)
{
    (void)state;
    struct scene *scene;
    struct store_measurement *measured = measured_scene(&scene, STORE_MEASURED_SECTORS);
    measured->sectors_per_request = 16;
    assert_string_equal(speaking(scene), "none");
    measured->sectors_per_request = 16.1;
    assert_string_equal(speaking(scene), "uncoalesced");
    measured->valid = 0;
    assert_string_equal(speaking(scene), "none");
}

static void bank_conflicts(void **state)
{
    (void)state;
    struct scene *scene;
    struct store_measurement *measured = measured_scene(&scene, STORE_MEASURED_BANKS);
    measured->bank_conflicts_per_request = 0.99;
    assert_string_equal(speaking(scene), "none");
    measured->bank_conflicts_per_request = 31;
    assert_says(scene, "bank-conflicts", "The average shared-memory request takes 32 passes instead of 1.",
                "Pad the rows of the shared array by one element, or swizzle its index, so that the lanes of "
                "a warp fall "
                "on different banks.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(occupancy_at_the_threshold),
        cmocka_unit_test(occupancy_registers),
        cmocka_unit_test(fewer_registers_are_no_gift_to_a_kernel_that_spills),
        cmocka_unit_test(occupancy_shared_memory),
        cmocka_unit_test(occupancy_barriers),
        cmocka_unit_test(occupancy_block_slots),
        cmocka_unit_test(occupancy_block_size),
        cmocka_unit_test(occupancy_driver),
        cmocka_unit_test(tied_limits_are_all_named),
        cmocka_unit_test(local_memory),
        cmocka_unit_test(achieved_below_theoretical),
        cmocka_unit_test(divergence),
        cmocka_unit_test(lanes_without_a_thread_are_not_divergence),
        cmocka_unit_test(uncoalesced),
        cmocka_unit_test(bank_conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
