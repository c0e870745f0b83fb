/* Rules about grids and blocks, each on both sides of its threshold. */
#include "test.h"

#include "findings_scene.h"

static void clean_launch_has_no_finding(void **state)
{
    (void)state;
    assert_string_equal(speaking(scene_of(SLOTS, 256)), "none");
    assert_string_equal(speaking(scene_of(100 * SLOTS, 256)), "none");
}

static void tiny_by_number(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1, 128);
    scene->configuration.launches = 999;
    assert_string_equal(speaking(scene), "fewer-blocks-than-sms");
    scene->configuration.launches = 1000;
    assert_says(scene, "tiny-launches",
                "1,000 direct launches of 1 block of 128 threads, 1,000 a second; the GPU holds 2,112 such "
                "blocks at once.",
                "Give one launch the work of many, or capture the loop around it in a CUDA graph.");
}

static void tiny_by_rate(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1, 128);
    scene->configuration.launches = 1000;
    scene->run.seconds = 10;
    assert_string_equal(speaking(scene), "tiny-launches");
    scene->run.seconds = 10.1;
    assert_string_equal(speaking(scene), "fewer-blocks-than-sms");
}

static void tiny_by_warps(void **state)
{
    (void)state;
    struct scene *scene = scene_of(131, 32);
    scene->configuration.launches = 1000;
    assert_string_equal(speaking(scene), "tiny-launches");
    scene = scene_of(66, 64);
    scene->configuration.launches = 1000;
    assert_string_equal(speaking(scene), "fewer-blocks-than-sms");
}

static void tiny_by_gpu_time(void **state)
{
    (void)state;
    struct scene *scene = scene_of(SLOTS, 256);
    scene->configuration.launches = 1000;
    scene->configuration.measured = (struct store_measurement){
        .valid = STORE_MEASURED_GPU_TIME, .gpu_ns_count = 9, .gpu_ns_median = 5000};
    assert_string_equal(speaking(scene), "none");
    scene->configuration.measured.gpu_ns_median = 4999;
    assert_says(scene, "tiny-launches",
                "1,000 direct launches of 1,056 blocks of 256 threads, 1,000 a second; half of them run for "
                "5 µs or less.",
                "Give one launch the work of many, or capture the loop around it in a CUDA graph.");
}

static void replayed_launches_are_not_tiny(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1, 128);
    scene->configuration.launches = 5000;
    scene->configuration.graph_launches = 4001;
    assert_string_equal(speaking(scene), "fewer-blocks-than-sms");
    scene->configuration.graph_launches = 4000;
    assert_string_equal(speaking(scene), "tiny-launches");
}

static void tiny_in_a_sequence_is_told_there(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1, 128);
    scene->configuration.launches = 1000;
    scene->in_sequence[0] = true;
    assert_string_equal(speaking(scene), "none");
}

static void tiny_names_what_follows(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1, 128);
    scene->configuration.launches = 1000;
    scene->configuration.successor = 0;
    scene->configuration.successor_votes = 500;
    struct sentence advice = {.bytes = 0};
    rule_named("tiny-launches")->advice(&scene->subject, &advice);
    assert_string_equal(advice.text,
                        "It mostly follows itself: let one launch with more blocks do the work of many.");
    scene->configuration.successor_votes = 499;
    advice.bytes = 0;
    rule_named("tiny-launches")->advice(&scene->subject, &advice);
    assert_string_equal(advice.text,
                        "Give one launch the work of many, or capture the loop around it in a CUDA graph.");
}

static void fewer_blocks_than_sms(void **state)
{
    (void)state;
    assert_says(scene_of(131, 256), "fewer-blocks-than-sms", "131 blocks on 132 SMs: 1 SM without work.",
                "With blocks of 224 threads the same work reaches every SM, as 149 blocks.");
    assert_string_equal(speaking(scene_of(132, 256)), "fewer-blocks-than-slots");
    assert_says(
        scene_of(1, 32), "fewer-blocks-than-sms", "1 block on 132 SMs: 131 SMs without work.",
        "Split the work of a block over at least 132 blocks, batch several launches into one, or run it on a "
        "stream beside other kernels.");
}

static void fewer_blocks_than_slots(void **state)
{
    (void)state;
    assert_says(
        scene_of(844, 256), "fewer-blocks-than-slots",
        "844 blocks on 1,056 slots (132 SMs × 8) are 0.8 waves: 20.1 % of the slots stay empty.",
        "Split the work into up to 1,056 blocks, which all run at once, or run it on a stream beside another "
        "kernel.");
    assert_string_equal(speaking(scene_of(845, 256)), "none");
}

static void just_over_a_wave(void **state)
{
    (void)state;
    assert_says(scene_of(SLOTS + 1, 256), "just-over-a-wave",
                "1,057 blocks on 1,056 slots are 1.001 waves: the last one runs 1 block, and 50 % of all "
                "slots stay empty.",
                "Launch 1,056 blocks, 1 full wave, each with 0.1 % more of the work.");
    assert_string_equal(speaking(scene_of(SLOTS + 105, 256)), "just-over-a-wave");
    assert_string_equal(speaking(scene_of(SLOTS + 106, 256)), "tail-waste");
}

static void tail_waste(void **state)
{
    (void)state;
    assert_says(scene_of(SLOTS + SLOTS / 2, 256), "tail-waste",
                "1,584 blocks on 1,056 slots are 1.5 waves: the last one runs 528 blocks, and 25 % of all "
                "slots stay empty.",
                "Launch a whole number of waves, 1,056 or 2,112 blocks, by a grid-stride loop, or use "
                "smaller blocks so "
                "that the last wave is short.");
    assert_string_equal(speaking(scene_of(8553, 256)), "just-over-a-wave");
    assert_string_equal(speaking(scene_of(5 * SLOTS + 422, 256)), "tail-waste");
    assert_string_equal(speaking(scene_of(5 * SLOTS + 423, 256)), "none");
}

static void tail_of_many_waves_is_none(void **state)
{
    (void)state;
    assert_string_equal(speaking(scene_of(8 * SLOTS + 106, 256)), "none");
    assert_string_equal(speaking(scene_of(9 * SLOTS + 1, 256)), "none");
}

static void kinds_by_design_are_not_accused(void **state)
{
    (void)state;
    const unsigned excused[] = {LABEL_COOPERATIVE, LABEL_PERSISTENT, LABEL_COMMUNICATION, LABEL_CONCURRENT};
    const uint32_t grids[] = {1, 132, SLOTS + 1, SLOTS + 500};
    for (unsigned label = 0; label < 4; label++) {
        for (unsigned grid = 0; grid < 4; grid++) {
            struct scene *scene = scene_of(grids[grid], 256);
            scene->kernel.registers_per_thread = 255;
            scene_judge(scene);
            scene->configuration.launches = 100000;
            scene->configuration.labels = excused[label];
            assert_string_equal(speaking(scene), "none");
        }
    }
}

static void dependent_launch_hides_its_tail(void **state)
{
    (void)state;
    struct scene *scene = scene_of(SLOTS + 1, 256);
    scene->configuration.labels = LABEL_PROGRAMMATIC;
    assert_string_equal(speaking(scene), "none");
}

static void block_not_warp_multiple(void **state)
{
    (void)state;
    struct scene *scene = scene_of(10000 * 132, 96);
    assert_string_equal(speaking(scene), "none");
    scene = scene_of(10000 * 132, 97);
    assert_says(scene, "block-not-warp-multiple",
                "97 threads are 4 warps: 31 of 128 lanes never have a thread.",
                "Use 96 or 128 threads a block.");
    scene->configuration.labels = LABEL_COMMUNICATION;
    assert_string_equal(speaking(scene), "none");
}

static void unknown_figures_accuse_nobody(void **state)
{
    (void)state;
    struct scene *scene = scene_of(1, 256);
    scene->device.limits.valid = 0;
    scene->device.limits.compute_capability = 0;
    scene_judge(scene);
    assert_string_equal(speaking(scene), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_launch_has_no_finding),
        cmocka_unit_test(tiny_by_number),
        cmocka_unit_test(tiny_by_rate),
        cmocka_unit_test(tiny_by_warps),
        cmocka_unit_test(tiny_by_gpu_time),
        cmocka_unit_test(replayed_launches_are_not_tiny),
        cmocka_unit_test(tiny_in_a_sequence_is_told_there),
        cmocka_unit_test(tiny_names_what_follows),
        cmocka_unit_test(fewer_blocks_than_sms),
        cmocka_unit_test(fewer_blocks_than_slots),
        cmocka_unit_test(just_over_a_wave),
        cmocka_unit_test(tail_waste),
        cmocka_unit_test(tail_of_many_waves_is_none),
        cmocka_unit_test(kinds_by_design_are_not_accused),
        cmocka_unit_test(dependent_launch_hides_its_tail),
        cmocka_unit_test(block_not_warp_multiple),
        cmocka_unit_test(unknown_figures_accuse_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
