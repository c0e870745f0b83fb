/* Each finding rule on both sides of its threshold, then what is reported of a whole run and in which order.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings/findings.h"
#include "report/findings/rules.h"
#include "report/findings/sequences.h"
#include "report/store/judge.h"

/* --- one configuration --------------------------------------------------------------------------------- */

/* An H200: 132 SMs of 64 warps. 256 threads at 32 registers are 8 blocks an SM, 1,056 slots. */
static struct merged_device h200(void)
{
    struct merged_device device = {.host = "node1"};
    device.limits = (struct store_device){.compute_capability = 90,
                                          .name = "NVIDIA H200",
                                          .sms = 132,
                                          .max_threads_per_sm = 2048,
                                          .valid = 1u << 0 | 1u << 2};
    return device;
}

enum { SLOTS = 1056 };

struct scene {
    struct merged merged;
    struct merged_kernel kernel;
    struct merged_configuration configuration;
    struct merged_device device;
    struct findings_run run;
    struct subject subject;
    bool in_sequence[1];
    uint32_t barriers;
};

static void scene_judge(struct scene *scene)
{
    scene->configuration.judged =
        judge_configuration(&scene->kernel, &scene->configuration, &scene->device, true, scene->barriers);
    scene->run.in_sequence = scene->in_sequence;
    scene->subject = subject_of(&scene->run, &scene->configuration);
}

/* 100 launches in one second of a kernel with 32 registers. */
static struct scene *scene_of(uint32_t blocks, uint32_t threads)
{
    static struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.device = h200();
    scene.barriers = MERGED_NONE;
    scene.kernel = (struct merged_kernel){.short_name = "kernel",
                                          .registers_per_thread = 32,
                                          .valid = STORE_KERNEL_ATTRIBUTES,
                                          .configurations = 1,
                                          .launches = 100};
    scene.configuration = (struct merged_configuration){.grid = {blocks, 1, 1},
                                                        .block = {threads, 1, 1},
                                                        .cluster = {1, 1, 1},
                                                        .launches = 100,
                                                        .successor = MERGED_NONE};
    scene.merged = (struct merged){.kernels = &scene.kernel,
                                   .configurations = &scene.configuration,
                                   .devices = &scene.device,
                                   .kernels_count = 1,
                                   .configurations_count = 1,
                                   .devices_count = 1};
    scene.run = (struct findings_run){.merged = &scene.merged, .seconds = 1};
    scene_judge(&scene);
    return &scene;
}

/* The only rule that speaks, "none", or "several". */
static const char *speaking(const struct scene *scene)
{
    const char *id = "none";
    for (unsigned i = 0; i < finding_rules_count; i++) {
        struct verdict verdict = finding_rules[i].judge(&scene->subject);
        assert_true(verdict.fraction >= 0 && verdict.fraction <= 1);
        assert_true(verdict.applies || verdict.fraction == 0);
        if (verdict.applies) {
            id = strcmp(id, "none") == 0 ? finding_rules[i].id : "several";
        }
    }
    return id;
}

static const struct rule *rule_named(const char *id)
{
    for (unsigned i = 0; i < finding_rules_count; i++) {
        if (strcmp(finding_rules[i].id, id) == 0) {
            return &finding_rules[i];
        }
    }
    fail_msg("no rule %s", id);
    return NULL;
}

static void assert_says(const struct scene *scene, const char *id, const char *evidence, const char *advice)
{
    struct sentence shown = {.bytes = 0}, advised = {.bytes = 0};
    assert_string_equal(speaking(scene), id);
    rule_named(id)->evidence(&scene->subject, &shown);
    rule_named(id)->advice(&scene->subject, &advised);
    assert_string_equal(shown.text, evidence);
    assert_string_equal(advised.text, advice);
}

static void clean_launch_has_no_finding(void **state)
{
    (void)state;
    assert_string_equal(speaking(scene_of(SLOTS, 256)), "none");
    assert_string_equal(speaking(scene_of(100 * SLOTS, 256)), "none");
}

/* --- grids --------------------------------------------------------------------------------------------- */

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
    struct sentence advice = {.bytes = 0};
    rule_named("tiny-launches")->advice(&scene->subject, &advice);
    assert_string_equal(advice.text,
                        "It mostly follows itself: let one launch with more blocks do the work of many.");
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
    const unsigned excused[] = {LABEL_COOPERATIVE, LABEL_PERSISTENT, LABEL_COMMUNICATION};
    const uint32_t grids[] = {1, 132, SLOTS + 1, SLOTS + 500};
    for (unsigned label = 0; label < 3; label++) {
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

/* --- whole runs ---------------------------------------------------------------------------------------- */

/* `kernels` kernels of one configuration each: `blocks` blocks of 256 threads, `launches` times. */
static struct merged *run_of(uint32_t kernels, uint32_t blocks, uint64_t launches)
{
    struct merged *merged = merged_new();
    assert_non_null(merged);
    merged->kernels = calloc(kernels, sizeof *merged->kernels);
    merged->configurations = calloc(kernels, sizeof *merged->configurations);
    merged->devices = calloc(1, sizeof *merged->devices);
    merged->processes = calloc(8, sizeof *merged->processes);
    assert_true(merged->kernels && merged->configurations && merged->devices && merged->processes);
    merged->devices[0] = h200();
    merged->kernels_count = merged->configurations_count = kernels;
    merged->devices_count = merged->processes_count = 1;
    merged->processes[0] = (struct merged_process){.host = "node1", .pid = 7, .rank = -1, .seconds = 1};
    for (uint32_t i = 0; i < kernels; i++) {
        merged->kernels[i] = (struct merged_kernel){.mangled = "",
                                                    .name = "",
                                                    .short_name = merged_print(merged, "kernel_%u", i),
                                                    .registers_per_thread = 32,
                                                    .valid = STORE_KERNEL_ATTRIBUTES,
                                                    .first_configuration = i,
                                                    .configurations = 1,
                                                    .launches = launches};
        merged->configurations[i] = (struct merged_configuration){.kernel = i,
                                                                  .grid = {blocks, 1, 1},
                                                                  .block = {256, 1, 1},
                                                                  .cluster = {1, 1, 1},
                                                                  .launches = launches,
                                                                  .successor = MERGED_NONE};
    }
    return merged;
}

static void compute(struct merged *merged)
{
    merged->totals.launches = 0;
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        merged->totals.launches += merged->configurations[i].launches;
    }
    judge_all(merged);
    assert_true(findings_compute(merged));
}

static uint32_t findings_of(const struct merged *merged, const char *id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < merged->findings_count; i++) {
        count += strcmp(merged->findings[i].id, id) == 0;
    }
    return count;
}

static void clean_run_has_no_finding(void **state)
{
    (void)state;
    struct merged *merged = run_of(8, 100 * SLOTS, 50);
    compute(merged);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
}

static void empty_run_has_no_finding(void **state)
{
    (void)state;
    struct merged *merged = merged_new();
    assert_true(findings_compute(merged));
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
}

static void cost_over_the_whole_run_ranks(void **state)
{
    (void)state;
    struct merged *merged = run_of(3, SLOTS + 1, 10);
    merged->configurations[1].launches = 1000; /* the same waste, more often */
    merged->configurations[2].grid[0] = 1;     /* the most waste a launch, but least in all */
    merged->configurations[2].launches = 100;
    compute(merged);
    assert_int_equal(merged->findings_count, 2); /* the 20 waves of kernel 0 are below 1 % of the run */
    assert_string_equal(merged->findings[0].id, "just-over-a-wave");
    assert_int_equal(merged->findings[0].kernel, 1);
    assert_int_equal(merged->findings[0].severity, SEVERITY_HIGH);
    assert_string_equal(merged->findings[1].id, "fewer-blocks-than-sms");
    assert_true(merged->findings[0].cost > merged->findings[1].cost);
    assert_true(merged->findings[0].share + merged->findings[1].share < 1);
    merged_free(merged);
}

static void share_below_one_percent_is_left_out(void **state)
{
    (void)state;
    struct merged *merged = run_of(2, 100 * SLOTS, 100); /* 10,000 waves a kernel */
    merged->configurations[1].grid[0] = SLOTS / 2 + 1;   /* half a wave idle, 50 waves for 100 launches */
    compute(merged);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
    merged = run_of(2, 100 * SLOTS, 100);
    merged->configurations[1].grid[0] = SLOTS / 2 + 1;
    merged->configurations[1].launches = 210;
    compute(merged);
    assert_int_equal(merged->findings_count, 1);
    assert_int_equal(merged->findings[0].severity, SEVERITY_LOW);
    merged_free(merged);
}

static void tiny_launches_count_by_their_share_of_launches(void **state)
{
    (void)state;
    for (uint64_t others = 99000; others <= 99001; others++) {
        struct merged *merged = run_of(2, 100 * SLOTS, others); /* of which the idle SMs are less than 1 % */
        merged->configurations[1].grid[0] = 1;
        merged->configurations[1].block[0] = 32;
        merged->configurations[1].launches = 1000;
        compute(merged);
        assert_int_equal(merged->findings_count, others == 99000);
        merged_free(merged);
    }
}

/* Many kernels, none worth a line, but half of the run together. */
static void small_kernels_are_summed(void **state)
{
    (void)state;
    struct merged *merged = run_of(400, SLOTS / 2 + 1, 10);
    compute(merged);
    assert_int_equal(merged->findings_count, 1);
    assert_int_equal(merged->findings[0].kernel, MERGED_NONE);
    assert_int_equal(merged->findings[0].launches, 4000);
    assert_string_equal(merged->findings[0].evidence,
                        "400 kernels besides those named lose 49.9 % of the run's SM time together.");
    merged_free(merged);
}

static void a_rule_names_ten_kernels(void **state)
{
    (void)state;
    struct merged *merged = run_of(20, SLOTS / 2 + 1, 10);
    compute(merged);
    assert_int_equal(merged->findings_count, 11);
    merged_free(merged);
}

static void a_rule_without_cost_names_three(void **state)
{
    (void)state;
    struct merged *merged = run_of(4, 100 * SLOTS, 10);
    for (uint32_t i = 0; i < 4; i++) {
        merged->kernels[i].local_bytes = 100;
    }
    compute(merged);
    assert_int_equal(merged->findings_count, 3);
    merged_free(merged);
}

static void configurations_of_a_kernel_are_one_finding(void **state)
{
    (void)state;
    struct merged *merged = run_of(3, SLOTS + 1, 10);
    merged->kernels_count = 1;
    merged->kernels[0].configurations = 3;
    for (uint32_t i = 0; i < 3; i++) {
        merged->configurations[i].kernel = 0;
        merged->configurations[i].grid[0] += i;
    }
    merged->configurations[2].launches = 11;
    compute(merged);
    assert_int_equal(merged->findings_count, 1);
    assert_int_equal(merged->findings[0].configuration, 2);
    assert_int_equal(merged->findings[0].launches, 31);
    assert_non_null(strstr(merged->findings[0].evidence, "So or similar in 3 of its configurations."));
    merged_free(merged);
}

static void gpu_times_rank_where_all_are_known(void **state)
{
    (void)state;
    struct merged *merged = run_of(2, SLOTS + 1, 10);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t ns = i ? 900000 : 100000;
        merged->configurations[i].measured = (struct store_measurement){.valid = STORE_MEASURED_GPU_TIME,
                                                                        .gpu_ns_count = 10,
                                                                        .gpu_ns_median = ns,
                                                                        .gpu_ns_total = 10 * ns};
    }
    merged->configurations[0].launches = 12; /* more SM-waves, less time */
    compute(merged);
    assert_int_equal(merged->findings[0].kernel, 1);
    assert_true(merged->findings[0].cost > 1e8);
    merged_free(merged);
}

/* --- sequences ----------------------------------------------------------------------------------------- */

static struct merged *loop_of(uint32_t members, uint32_t blocks, uint64_t repeats)
{
    struct merged *merged = run_of(members, blocks, repeats);
    for (uint32_t i = 0; i < members; i++) {
        merged->configurations[i].successor = (i + 1) % members;
        merged->configurations[i].successor_votes = repeats - 1;
    }
    return merged;
}

static void repeating_sequence(void **state)
{
    (void)state;
    struct merged *merged = loop_of(3, 8, 100);
    compute(merged);
    assert_int_equal(findings_of(merged, "repeating-sequence"), 1);
    const struct merged_finding *finding = &merged->findings[merged->findings_count - 1];
    assert_string_equal(finding->id, "repeating-sequence");
    assert_string_equal(finding->evidence,
                        "kernel_0 → kernel_1 → kernel_2: these 3 launches follow each other about "
                        "100 times, most of them too small for the GPU.");
    assert_int_equal(finding->launches, 300);
    merged_free(merged);
    merged = loop_of(3, 8, 99);
    compute(merged);
    assert_int_equal(findings_of(merged, "repeating-sequence"), 0);
    merged_free(merged);
}

static void members_are_not_accused_of_being_tiny_too(void **state)
{
    (void)state;
    struct merged *merged = loop_of(3, 8, 5000);
    compute(merged);
    assert_int_equal(merged->findings_count, 1);
    assert_string_equal(merged->findings[0].id, "repeating-sequence");
    assert_int_equal(merged->findings[0].severity, SEVERITY_HIGH);
    assert_true(merged->findings[0].share > 0.99);
    merged_free(merged);
}

/* Costs add up: what the sequence costs is not told again of its members, and the other way round. */
static void no_idle_sm_is_charged_twice(void **state)
{
    (void)state;
    for (uint64_t repeats = 100; repeats <= 5000; repeats += 4900) {
        struct merged *merged = loop_of(3, 8, repeats);
        double share = 0;
        compute(merged);
        for (uint32_t i = 0; i < merged->findings_count; i++) {
            share += merged->findings[i].share;
        }
        assert_true(share > 0.99 && share <= 1);
        merged_free(merged);
    }
}

static void sequence_of_full_grids_is_fine(void **state)
{
    (void)state;
    struct merged *merged = loop_of(3, 10 * SLOTS, 5000);
    compute(merged);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
}

static void replayed_sequence_is_fine(void **state)
{
    (void)state;
    struct merged *merged = loop_of(3, 8, 200);
    for (uint32_t i = 0; i < 3; i++) {
        merged->configurations[i].graph_launches = 101;
    }
    compute(merged);
    assert_int_equal(findings_of(merged, "repeating-sequence"), 0);
    merged_free(merged);
}

static void unclear_successors_make_no_sequence(void **state)
{
    (void)state;
    struct merged *merged = loop_of(3, 8, 200);
    merged->configurations[1].successor_votes = 99;
    compute(merged);
    assert_int_equal(findings_of(merged, "repeating-sequence"), 0);
    merged_free(merged);
}

static void a_kernel_after_itself_is_no_sequence(void **state)
{
    (void)state;
    struct merged *merged = loop_of(1, 8, 200);
    compute(merged);
    assert_int_equal(findings_of(merged, "repeating-sequence"), 0);
    merged_free(merged);
}

/* --- the host, ranks, what was not seen ---------------------------------------------------------------- */

/* 100,000 launches within a second, that long in launch calls. */
static struct merged *launching_host(uint64_t launch_call_ns)
{
    struct merged *merged = run_of(1, 100 * SLOTS, 100000);
    struct merged_process *process = &merged->processes[0];
    process->features = STORE_FEATURE_TIMES;
    process->launches = 100000;
    process->launch_call_ns = launch_call_ns;
    process->gap_ns = 1000000000 - launch_call_ns;
    process->gaps = process->gap_histogram[4] = 99999;
    return merged;
}

static void launch_bound_host(void **state)
{
    (void)state;
    struct merged *merged = launching_host(250000000);
    compute(merged);
    assert_int_equal(merged->findings_count, 1);
    assert_string_equal(merged->findings[0].id, "launch-bound-host");
    assert_string_equal(merged->findings[0].evidence,
                        "Launch calls take 25 % of the launching time of process 7, 2.5 µs on "
                        "average; half of the gaps between them are shorter than 2.05 µs.");
    merged_free(merged);
    merged = launching_host(249000000);
    compute(merged);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
}

/* Calls that take long wait for room in the queue: the GPU is behind, not the host. */
static void blocked_launch_calls_are_not_the_hosts_fault(void **state)
{
    (void)state;
    struct merged *merged = launching_host(900000000);
    merged->processes[0].launches = 89000;
    compute(merged);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
}

static void busy_gpu_clears_the_host(void **state)
{
    (void)state;
    for (uint64_t ns = 7900; ns <= 8000; ns += 100) {
        struct merged *merged = launching_host(500000000);
        merged->configurations[0].measured = (struct store_measurement){.valid = STORE_MEASURED_GPU_TIME,
                                                                        .gpu_ns_count = 100000,
                                                                        .gpu_ns_median = ns,
                                                                        .gpu_ns_total = ns * 100000};
        compute(merged);
        assert_int_equal(findings_of(merged, "launch-bound-host"), ns < 8000);
        merged_free(merged);
    }
}

static void simulated_times_accuse_no_host(void **state)
{
    (void)state;
    struct merged *merged = launching_host(900000000);
    merged->devices[0].simulated = true;
    compute(merged);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
}

static struct merged *four_ranks(void)
{
    struct merged *merged = run_of(2, 100 * SLOTS, 100);
    merged->processes_count = 4;
    for (int32_t rank = 0; rank < 4; rank++) {
        merged->processes[rank] = (struct merged_process){.host = "node1", .rank = rank};
    }
    return merged;
}

static void odd_rank(void **state)
{
    (void)state;
    const struct merged_odd_rank odd[] = {
        {.process = 2, .kernel = 0, .launches = 30, .usual = 25, .usual_ranks = 2},
        {.process = 0, .kernel = 0, .launches = 24, .usual = 25, .usual_ranks = 2},
        {.process = 2, .kernel = 1, .launches = 5, .usual = 25, .usual_ranks = 3}};
    struct merged *merged = four_ranks();
    compute(merged);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
    merged = four_ranks();
    merged->odd_ranks = calloc(3, sizeof *merged->odd_ranks);
    memcpy(merged->odd_ranks, odd, sizeof odd);
    merged->odd_ranks_count = 3;
    compute(merged);
    assert_int_equal(merged->findings_count, 2);
    assert_int_equal(merged->findings[0].kernel, 1);
    assert_string_equal(merged->findings[0].evidence,
                        "rank 2 on node1 launched kernel_1 5 times, 3 other ranks 25 times; "
                        "2 kernels differ in all.");
    assert_string_equal(merged->findings[1].evidence,
                        "rank 0 on node1 launched kernel_0 24 times, 2 other ranks 25 times.");
    merged_free(merged);
}

static struct merged *dominated(uint32_t configurations, uint64_t first)
{
    struct merged *merged = run_of(configurations, 100 * SLOTS, 5);
    merged->configurations[0].launches = first;
    compute(merged);
    return merged;
}

static void dominated_by_one_configuration(void **state)
{
    (void)state;
    struct merged *merged = dominated(10, 180);
    assert_int_equal(merged->findings_count, 1);
    assert_string_equal(merged->findings[0].id, "dominated-by-one-configuration");
    assert_int_equal(merged->findings[0].severity, SEVERITY_NOTE);
    merged_free(merged);
    merged = dominated(10, 179);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
    merged = dominated(9, 800);
    assert_int_equal(merged->findings_count, 0);
    merged_free(merged);
}

static void what_was_not_seen(void **state)
{
    (void)state;
    struct merged *merged = run_of(1, 100 * SLOTS, 100);
    merged->totals.lost = merged->processes[0].lost = 17;
    merged->processes[0].lost_reason = STORE_LOSS_NO_SPACE;
    merged->totals.uncounted = 5;
    merged->processes[0].uncounted[STORE_UNCOUNTED_CONDITIONAL] = 3;
    merged->processes[0].uncounted[STORE_UNCOUNTED_DEVICE_GRAPH] = 2;
    merged->totals.further = 9;
    compute(merged);
    assert_int_equal(merged->findings_count, 3);
    assert_string_equal(merged->findings[0].id, "launches-lost");
    assert_string_equal(merged->findings[0].evidence, "17 launches were seen but not recorded; 100 were.");
    assert_string_equal(merged->findings[1].id, "launches-uncounted");
    assert_string_equal(merged->findings[1].evidence,
                        "5 requests led to launches that only the GPU knows: 3 through "
                        "conditional graph nodes; 2 of device-side graph launches.");
    assert_string_equal(merged->findings[2].id, "configurations-limit");
    merged_free(merged);
}

/* --- words --------------------------------------------------------------------------------------------- */

static void numbers_read_well(void **state)
{
    (void)state;
    assert_string_equal(COUNT(0), "0");
    assert_string_equal(COUNT(999), "999");
    assert_string_equal(COUNT(UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(PERCENT(0.498106), "49.8 %");
    assert_string_equal(PERCENT(0.5), "50 %");
    assert_string_equal(PERCENT(1), "100 %");
    assert_string_equal(PERCENT(0.99999), "99.999 %");
    assert_string_equal(PERCENT(0.0001), "0.01 %");
    assert_string_equal(WAVES(265.0 / 264), "1.004");
    assert_string_equal(WAVES(2), "2");
    assert_string_equal(WAVES(19.39), "19.4");
    assert_string_equal(WAVES(0.000473), "0.000473");
    assert_string_equal(WAVES(378.8), "378");
    assert_string_equal(BYTES(1), "1 byte");
    assert_string_equal(BYTES(1000), "1,000 bytes");
    assert_string_equal(BYTES(98304), "96 KB");
    assert_string_equal(DURATION(999), "999 ns");
    assert_string_equal(DURATION(2815), "2.81 µs");
    assert_string_equal(DURATION(3e9), "3 s");
    assert_string_equal(PLURAL(1, "launch"), "1 launch");
    assert_string_equal(PLURAL(2, "launch"), "2 launches");
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'k', sizeof name);
    memcpy(name + 76, "é", 2);
    name[199] = 0;
    const char *cut = NAME(name);
    assert_int_equal(strlen(cut), 76 + strlen("…"));
    assert_string_equal(cut + 76, "…");
}

static void sentences_do_not_overflow(void **state)
{
    (void)state;
    struct sentence sentence = {.bytes = 0};
    for (int i = 0; i < 100; i++) {
        say(&sentence, "twenty characters... ");
    }
    assert_int_equal(strlen(sentence.text), sizeof sentence.text - 1);
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
        cmocka_unit_test(clean_run_has_no_finding),
        cmocka_unit_test(empty_run_has_no_finding),
        cmocka_unit_test(cost_over_the_whole_run_ranks),
        cmocka_unit_test(share_below_one_percent_is_left_out),
        cmocka_unit_test(tiny_launches_count_by_their_share_of_launches),
        cmocka_unit_test(small_kernels_are_summed),
        cmocka_unit_test(a_rule_names_ten_kernels),
        cmocka_unit_test(a_rule_without_cost_names_three),
        cmocka_unit_test(configurations_of_a_kernel_are_one_finding),
        cmocka_unit_test(gpu_times_rank_where_all_are_known),
        cmocka_unit_test(repeating_sequence),
        cmocka_unit_test(members_are_not_accused_of_being_tiny_too),
        cmocka_unit_test(no_idle_sm_is_charged_twice),
        cmocka_unit_test(sequence_of_full_grids_is_fine),
        cmocka_unit_test(replayed_sequence_is_fine),
        cmocka_unit_test(unclear_successors_make_no_sequence),
        cmocka_unit_test(a_kernel_after_itself_is_no_sequence),
        cmocka_unit_test(launch_bound_host),
        cmocka_unit_test(blocked_launch_calls_are_not_the_hosts_fault),
        cmocka_unit_test(busy_gpu_clears_the_host),
        cmocka_unit_test(simulated_times_accuse_no_host),
        cmocka_unit_test(odd_rank),
        cmocka_unit_test(dominated_by_one_configuration),
        cmocka_unit_test(what_was_not_seen),
        cmocka_unit_test(numbers_read_well),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(sentences_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
