/* Advice: worked numbers of one row, and the rule on cases where it must differ from "most occupancy". */
#include <math.h>

#include "report/model/advise.h"
#include "tests/unit/test.h"

static struct occupancy_sm hopper(void)
{
    struct occupancy_sm sm;
    assert_true(occupancy_sm_of_capability(90, &sm));
    return sm;
}

static struct advise_row row_of(const struct advise_work *work, int threads)
{
    struct occupancy_sm sm = hopper();
    struct advise_row row;
    assert_int_equal(advise_row(&sm, 132, work, threads, &row), OCCUPANCY_OK);
    return row;
}

static struct advise_choice choose(const struct advise_work *work, struct advise_row rows[ADVISE_SIZES])
{
    struct occupancy_sm sm = hopper();
    for (int i = 0; i < ADVISE_SIZES; i++) {
        rows[i] = row_of(work, advise_sizes[i]);
    }
    return advise_choose(rows, ADVISE_SIZES, advise_warps_needed(&sm, work));
}

static void a_thousand_elements(void **state)
{
    (void)state;
    const struct advise_work work = {.elements = 1000, .registers_per_thread = 32};
    struct advise_row row = row_of(&work, 256);
    assert_int_equal(row.blocks, 4);
    assert_int_equal(row.surplus_threads, 24);
    assert_int_equal(row.uncovered_one_short, 232);
    row = row_of(&work, 100);
    assert_int_equal(row.occupancy.warps_per_block, 4);
    assert_int_equal(row.idle_lanes_per_block, 28);
}

static void excess_is_what_the_busiest_sm_does_beyond_its_share(void **state)
{
    (void)state;
    const struct advise_work even = {.elements = 132 * 256, .registers_per_thread = 32};
    assert_true(row_of(&even, 256).excess == 0);
    const struct advise_work one_more = {.elements = 132 * 256 + 1, .registers_per_thread = 32};
    assert_true(fabs(row_of(&one_more, 256).excess - 1) < 1e-4); /* one SM has two blocks */
    const struct advise_work odd = {.elements = 132 * 100, .registers_per_thread = 32};
    assert_true(fabs(row_of(&odd, 100).excess - 0.28) < 1e-12); /* idle lanes count as load */
}

static void a_large_grid_takes_the_usual_size(void **state)
{
    (void)state;
    const struct advise_work work = {.elements = 100u * 1000 * 1000, .registers_per_thread = 32};
    struct advise_row rows[ADVISE_SIZES];
    struct advise_choice choice = choose(&work, rows);
    assert_int_equal(rows[choice.recommended].threads, 256);
    assert_int_equal(rows[choice.highest_occupancy].threads, 1024);
}

static void a_small_grid_is_spread_over_the_sms(void **state)
{
    (void)state;
    const struct advise_work work = {.elements = 132 * 64, .registers_per_thread = 32};
    struct advise_row rows[ADVISE_SIZES];
    struct advise_choice choice = choose(&work, rows);
    assert_int_equal(rows[choice.recommended].threads, 64);
    assert_true(rows[choice.recommended].excess == 0);
}

/* A percent of load decides nothing: the rule must not take an odd size for it. */
static void about_as_even_is_even(void **state)
{
    (void)state;
    const struct advise_work work = {.elements = 1000000, .registers_per_thread = 40};
    struct advise_row rows[ADVISE_SIZES];
    struct advise_choice choice = choose(&work, rows);
    assert_true(rows[2].excess + 0.01 < rows[choice.recommended].excess);
    assert_int_equal(rows[choice.recommended].threads, 256);
}

/* 40 registers: 96 threads reach 48 warps; 768 reach 48 too; with few elements smaller is more even. */
static void less_occupancy_wins_where_the_load_is_more_even(void **state)
{
    (void)state;
    const struct advise_work work = {
        .elements = 132 * 96, .registers_per_thread = 40, .shared_per_thread_bytes = 40};
    struct advise_row rows[ADVISE_SIZES];
    struct advise_choice choice = choose(&work, rows);
    assert_int_equal(rows[choice.recommended].threads, 96);
    assert_true(rows[choice.recommended].occupancy.warps_per_sm <=
                rows[choice.highest_occupancy].occupancy.warps_per_sm);
}

static void latency_says_how_many_warps_are_enough(void **state)
{
    (void)state;
    struct occupancy_sm sm = hopper();
    const struct advise_work work = {.elements = 132 * 32,
                                     .registers_per_thread = 32,
                                     .latency_cycles = 400,
                                     .instructions_between_stalls = 80};
    assert_int_equal(advise_warps_needed(&sm, &work), 20);
    struct advise_row rows[ADVISE_SIZES];
    struct advise_choice choice = choose(&work, rows);
    assert_true(choice.warps_from_latency);
    assert_int_equal(choice.warps_enough, 20);
    assert_int_equal(rows[choice.recommended].threads,
                     32); /* 32 warps: not three quarters of 64, but enough */
}

static void a_latency_beyond_reach_asks_for_the_most(void **state)
{
    (void)state;
    const struct advise_work work = {.elements = 1000000,
                                     .registers_per_thread = 32,
                                     .latency_cycles = 100000,
                                     .instructions_between_stalls = 1};
    struct advise_row rows[ADVISE_SIZES];
    struct advise_choice choice = choose(&work, rows);
    assert_true(choice.bar_out_of_reach);
    assert_int_equal(rows[choice.recommended].occupancy.warps_per_sm, 64);
}

static void sizes_that_cannot_run_are_never_taken(void **state)
{
    (void)state;
    const struct advise_work heavy = {.elements = 1000000, .registers_per_thread = 255};
    struct advise_row rows[ADVISE_SIZES];
    struct advise_choice choice = choose(&heavy, rows);
    assert_true(rows[choice.recommended].slots > 0);
    assert_int_equal(rows[ADVISE_SIZES - 1].slots, 0);
    const struct advise_work impossible = {.elements = 1, .shared_per_thread_bytes = 100000};
    choice = choose(&impossible, rows);
    assert_int_equal(choice.recommended, SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_elements),
        cmocka_unit_test(excess_is_what_the_busiest_sm_does_beyond_its_share),
        cmocka_unit_test(a_large_grid_takes_the_usual_size),
        cmocka_unit_test(a_small_grid_is_spread_over_the_sms),
        cmocka_unit_test(about_as_even_is_even),
        cmocka_unit_test(less_occupancy_wins_where_the_load_is_more_even),
        cmocka_unit_test(latency_says_how_many_warps_are_enough),
        cmocka_unit_test(a_latency_beyond_reach_asks_for_the_most),
        cmocka_unit_test(sizes_that_cannot_run_are_never_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
