/* Divergence: worked numbers, and the closed forms against counting over all cases. */
#include <math.h>
#include <stdbool.h>

#include "report/model/divergence.h"
#include "tests/unit/test.h"

enum { LANES = 32 };

static struct divergence of(enum divergence_pattern pattern, double probability)
{
    const struct divergence_branch branch = {probability, 1, 1};
    return divergence_compute(pattern, &branch);
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

static void a_rare_path_is_issued_often(void **state)
{
    (void)state;
    assert_true(near(of(DIVERGENCE_RANDOM, 0.01).warp_issues_path, 0.275, 5e-4));
    assert_true(near(of(DIVERGENCE_RANDOM, 0.02).warp_issues_path, 0.476, 5e-4));
    assert_true(near(of(DIVERGENCE_RANDOM, 0.10).warp_issues_path, 0.966, 5e-4));
}

/* Sum over the number of lanes that take the path, with binomial weights: no formula shared. */
static void random_lanes_agree_with_the_binomial_sum(void **state)
{
    (void)state;
    for (int thirty_seconds = 0; thirty_seconds <= 32; thirty_seconds++) {
        const struct divergence_branch branch = {thirty_seconds / 32.0, 7, 3};
        const struct divergence got = divergence_compute(DIVERGENCE_RANDOM, &branch);
        double issues = 0, diverges = 0, cost = 0, weight = 1; /* weight = C(32, lanes) */
        for (int lanes = 0; lanes <= LANES; lanes++) {
            double chance = weight * pow(branch.lane_probability, lanes) *
                            pow(1 - branch.lane_probability, LANES - lanes);
            issues += lanes > 0 ? chance : 0;
            diverges += lanes > 0 && lanes < LANES ? chance : 0;
            cost += chance * ((lanes > 0 ? 7 : 0) + (lanes < LANES ? 3 : 0));
            weight = weight * (LANES - lanes) / (lanes + 1);
        }
        assert_true(near(got.warp_issues_path, issues, 1e-9));
        assert_true(near(got.warp_diverges, diverges, 1e-9));
        assert_true(near(got.expected_cost, cost, 1e-8));
        assert_true(near(got.divergence_tax * got.lane_utilization, 1, 1e-12));
    }
}

static void the_textbook_formulas_hold(void **state)
{
    (void)state;
    for (int i = 0; i <= 100; i++) {
        double p = i / 100.0;
        struct divergence got = of(DIVERGENCE_RANDOM, p);
        assert_true(near(got.warp_issues_path, 1 - pow(1 - p, 32), 1e-12));
        assert_true(near(got.warp_diverges, 1 - pow(p, 32) - pow(1 - p, 32), 1e-12));
    }
}

static void even_and_odd_lanes_double_the_work(void **state)
{
    (void)state;
    const struct divergence split = divergence_of_split(16, 1, 1), spread = of(DIVERGENCE_INTERLEAVED, 0.5);
    assert_true(split.divergence_tax == 2 && split.lane_utilization == 0.5 && split.warp_diverges == 1);
    assert_true(spread.divergence_tax == 2 && spread.lane_utilization == 0.5 && spread.warp_diverges == 1);
}

static void decisions_aligned_to_warps_cost_nothing(void **state)
{
    (void)state;
    for (int eighths = 0; eighths <= 8; eighths++) {
        struct divergence aligned = of(DIVERGENCE_ALIGNED, eighths / 8.0);
        assert_true(aligned.divergence_tax == 1 && aligned.lane_utilization == 1 &&
                    aligned.warp_diverges == 0);
    }
}

static void every_hundredth_thread_reaches_a_third_of_the_warps(void **state)
{
    (void)state;
    struct divergence got = of(DIVERGENCE_INTERLEAVED, 0.01);
    assert_true(near(got.warp_issues_path, 0.32, 1e-12));
    assert_true(near(got.warp_diverges, 0.32, 1e-12));
    assert_true(got.warp_issues_else == 1);
}

static void a_split_of_none_or_all_does_not_diverge(void **state)
{
    (void)state;
    assert_true(divergence_of_split(0, 5, 2).expected_cost == 2);
    assert_true(divergence_of_split(32, 5, 2).expected_cost == 5);
    assert_true(divergence_of_split(1, 5, 2).expected_cost == 7);
    assert_true(divergence_of_split(32, 5, 2).warp_issues_else == 0);
}

static void a_path_without_cost_is_not_divided_by(void **state)
{
    (void)state;
    const struct divergence_branch free_branch = {0.5, 0, 0};
    struct divergence got = divergence_compute(DIVERGENCE_RANDOM, &free_branch);
    assert_true(got.expected_cost == 0 && got.divergence_tax == 1 && got.lane_utilization == 1);
    const struct divergence_branch never = {0, 1, 0};
    assert_true(divergence_compute(DIVERGENCE_RANDOM, &never).divergence_tax == 1);
}

static void tiny_probabilities_keep_their_digits(void **state)
{
    (void)state;
    assert_true(near(of(DIVERGENCE_RANDOM, 1e-18).warp_issues_path / 32e-18, 1, 1e-12));
    assert_true(near(of(DIVERGENCE_RANDOM, 1e-18).warp_diverges / 32e-18, 1, 1e-12));
}

static void branch_efficiency_leads_back_to_the_probability(void **state)
{
    (void)state;
    for (int i = 0; i <= 50; i++) {
        double p = i / 100.0, efficiency = 1 - of(DIVERGENCE_RANDOM, p).warp_diverges;
        double back = divergence_lane_probability(efficiency);
        double again = 1 - of(DIVERGENCE_RANDOM, back).warp_diverges;
        assert_true(near(again, efficiency, 1e-12));
        if (p < 0.3) { /* beyond it one diverging warp more or less no longer shows in a double */
            assert_true(near(back, p, 1e-6));
        }
    }
    assert_true(divergence_lane_probability(1) == 0);
    assert_true(divergence_lane_probability(0) == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rare_path_is_issued_often),
        cmocka_unit_test(random_lanes_agree_with_the_binomial_sum),
        cmocka_unit_test(the_textbook_formulas_hold),
        cmocka_unit_test(even_and_odd_lanes_double_the_work),
        cmocka_unit_test(decisions_aligned_to_warps_cost_nothing),
        cmocka_unit_test(every_hundredth_thread_reaches_a_third_of_the_warps),
        cmocka_unit_test(a_split_of_none_or_all_does_not_diverge),
        cmocka_unit_test(a_path_without_cost_is_not_divided_by),
        cmocka_unit_test(tiny_probabilities_keep_their_digits),
        cmocka_unit_test(branch_efficiency_leads_back_to_the_probability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
