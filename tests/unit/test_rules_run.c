/* Rules about the host, ranks, and what was not seen. */
#include "test.h"

#include <stdlib.h>

#include "findings_scene.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch_bound_host),
        cmocka_unit_test(blocked_launch_calls_are_not_the_hosts_fault),
        cmocka_unit_test(busy_gpu_clears_the_host),
        cmocka_unit_test(simulated_times_accuse_no_host),
        cmocka_unit_test(odd_rank),
        cmocka_unit_test(dominated_by_one_configuration),
        cmocka_unit_test(what_was_not_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
