/* What is reported of a whole run, and in which order. */
#include "test.h"

#include "findings_scene.h"

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
                        "400 kernels not named one by one lose 49.9 % of the run's SM time together.");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
