/* Launches that repeat: what is a loop, and what is not. */
#include "test.h"

#include <stdlib.h>

#include "findings_scene.h"
#include "report/findings/sequences.h"

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
                        "3 launches, most of them too small for the GPU, repeat about 100 times: kernel_0, "
                        "kernel_1, kernel_2.");
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

/* kernel_1 comes twice in a round, so that no successor of it leads. */
static void a_member_that_recurs(void **state)
{
    (void)state;
    struct merged *merged = loop_of(3, 8, 200);
    merged->configurations[1].launches = 401; /* once more, before the loop */
    merged->configurations[1].successor_votes = 0;
    compute(merged);
    assert_int_equal(findings_of(merged, "repeating-sequence"), 1);
    const struct merged_finding *finding = &merged->findings[merged->findings_count - 1];
    assert_string_equal(finding->evidence,
                        "4 launches, most of them too small for the GPU, repeat about 200 times: kernel_0, "
                        "kernel_1, kernel_2.");
    assert_int_equal(finding->launches, 801);
    merged_free(merged);
}

/* 0 → 1 → 2 → 1 → 3 → 4 → 3 → 0: of kernels 1 and 3 only one successor each is kept, so that two pairs show.
 */
static void parts_that_end_ambiguously_are_one(void **state)
{
    (void)state;
    static const uint32_t next[] = {1, 2, 1, 4, 3};
    for (uint64_t votes = 0; votes <= 399; votes += 399) {
        struct merged *merged = run_of(5, 8, 200);
        for (uint32_t i = 0; i < 5; i++) {
            bool recurs = i == 1 || i == 3;
            merged->configurations[i].launches = recurs ? 400 : 200;
            merged->configurations[i].successor = next[i];
            merged->configurations[i].successor_votes = recurs ? votes : 199;
        }
        compute(merged);
        assert_int_equal(findings_of(merged, "repeating-sequence"), votes == 0 ? 1 : 2);
        merged_free(merged);
    }
}

static void launches_out_of_proportion_are_no_loop(void **state)
{
    (void)state;
    for (uint64_t launches = 419; launches <= 421; launches += 2) {
        struct merged *merged = loop_of(3, 8, 200);
        merged->configurations[1].launches = launches;
        compute(merged);
        assert_int_equal(findings_of(merged, "repeating-sequence"), launches == 419);
        merged_free(merged);
    }
}

static void kernels_that_do_not_follow_each_other_are_no_loop(void **state)
{
    (void)state;
    struct merged *merged = run_of(3, 8, 200);
    for (uint32_t i = 0; i < 3; i++) {
        merged->configurations[i].successor = i;
        merged->configurations[i].successor_votes = 199;
    }
    compute(merged);
    assert_int_equal(findings_of(merged, "repeating-sequence"), 0);
    merged_free(merged);
}

/* Ranks on two GPUs run the same loop: one cause, one finding. */
static void equal_devices_are_one(void **state)
{
    (void)state;
    struct merged *merged = run_of(3, 8, 200);
    struct merged_configuration *twice = calloc(6, sizeof *twice);
    merged->devices = realloc(merged->devices, 2 * sizeof *merged->devices);
    merged->devices[1] = merged->devices[0];
    merged->devices_count = 2;
    for (uint32_t i = 0; i < 6; i++) {
        twice[i] = merged->configurations[i / 2];
        twice[i].device = i % 2;
        twice[i].successor = (i + 2) % 6;
        twice[i].successor_votes = 199;
    }
    for (uint32_t i = 0; i < 3; i++) {
        merged->kernels[i].first_configuration = 2 * i;
        merged->kernels[i].configurations = 2;
    }
    free(merged->configurations);
    merged->configurations = twice;
    merged->configurations_count = 6;
    compute(merged);
    assert_int_equal(findings_of(merged, "repeating-sequence"), 1);
    assert_int_equal(findings_of(merged, "fewer-blocks-than-sms"), 3);
    for (uint32_t i = 0; i < merged->findings_count; i++) {
        assert_null(strstr(merged->findings[i].evidence, "of its configurations"));
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeating_sequence),
        cmocka_unit_test(members_are_not_accused_of_being_tiny_too),
        cmocka_unit_test(no_idle_sm_is_charged_twice),
        cmocka_unit_test(sequence_of_full_grids_is_fine),
        cmocka_unit_test(replayed_sequence_is_fine),
        cmocka_unit_test(a_member_that_recurs),
        cmocka_unit_test(parts_that_end_ambiguously_are_one),
        cmocka_unit_test(launches_out_of_proportion_are_no_loop),
        cmocka_unit_test(kernels_that_do_not_follow_each_other_are_no_loop),
        cmocka_unit_test(equal_devices_are_one),
        cmocka_unit_test(a_kernel_after_itself_is_no_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
