/* Memory access: worked numbers, and every stride against marking each byte and word touched. */
#include <string.h>

#include "report/model/access.h"
#include "tests/unit/test.h"

enum { LANES = 32, SPACE_BYTES = 1 << 16 };

static struct coalescing coalescing_of(uint64_t stride, uint32_t element_bytes, uint64_t offset_bytes)
{
    const struct coalescing_request request = {stride, offset_bytes, element_bytes};
    return coalescing_compute(&request);
}

static void consecutive_words_are_one_line(void **state)
{
    (void)state;
    struct coalescing got = coalescing_of(1, 4, 0);
    assert_int_equal(got.sectors_per_request, 4);
    assert_int_equal(got.lines_per_request, 1);
    assert_int_equal(got.bytes_requested, 128);
    assert_int_equal(got.bytes_moved, 128);
    assert_true(got.efficiency == 1);
}

static void a_stride_of_32_words_is_32_lines(void **state)
{
    (void)state;
    struct coalescing got = coalescing_of(32, 4, 0);
    assert_int_equal(got.lines_per_request, 32);
    assert_int_equal(got.sectors_per_request, 32);
    assert_true(got.efficiency == 0.125);
}

static void a_misaligned_start_costs_a_sector(void **state)
{
    (void)state;
    struct coalescing got = coalescing_of(1, 4, 4);
    assert_int_equal(got.sectors_per_request, 5);
    assert_int_equal(got.lines_per_request, 2);
}

static void one_element_for_all_lanes_is_one_sector(void **state)
{
    (void)state;
    struct coalescing got = coalescing_of(0, 4, 0);
    assert_int_equal(got.sectors_per_request, 1);
    assert_int_equal(got.bytes_requested, 4);
    assert_true(got.efficiency == 0.125);
}

static unsigned marked_units(const unsigned char *touched, unsigned unit_bytes)
{
    unsigned count = 0;
    for (unsigned unit = 0; unit < SPACE_BYTES / unit_bytes; unit++) {
        count += memchr(touched + unit * unit_bytes, 1, unit_bytes) != NULL;
    }
    return count;
}

static void every_request_touches_what_marking_bytes_finds(void **state)
{
    (void)state;
    static unsigned char touched[SPACE_BYTES];
    static const uint32_t sizes[] = {1, 2, 4, 8, 12, 16, 48, 128};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (uint64_t stride = 0; stride * sizes[s] * 31 + 512 < SPACE_BYTES && stride < 70; stride++) {
            for (uint64_t offset = 0; offset < 260; offset += 13) {
                memset(touched, 0, sizeof touched);
                for (uint64_t lane = 0; lane < LANES; lane++) {
                    memset(touched + offset + lane * stride * sizes[s], 1, sizes[s]);
                }
                struct coalescing got = coalescing_of(stride, sizes[s], offset);
                assert_int_equal(got.sectors_per_request, marked_units(touched, 32));
                assert_int_equal(got.lines_per_request, marked_units(touched, 128));
                assert_int_equal(got.bytes_requested, marked_units(touched, 1));
                assert_true(got.efficiency > 0 && got.efficiency <= 1);
            }
        }
    }
}

static unsigned greatest_common_divisor(unsigned a, unsigned b)
{
    return b ? greatest_common_divisor(b, a % b) : a;
}

/* Words of 4 bytes: the textbook's rule is gcd(stride, 32). */
static void conflicts_are_the_common_divisor_with_32(void **state)
{
    (void)state;
    for (unsigned stride = 1; stride <= 1024; stride++) {
        struct banks got = banks_compute(stride, 4);
        assert_int_equal(got.conflict_degree, greatest_common_divisor(stride, 32));
        assert_false(got.broadcast);
    }
    assert_int_equal(banks_compute(32, 4).conflict_degree, 32);
    assert_int_equal(banks_compute(33, 4).conflict_degree, 1); /* why tiles are padded by one */
}

static void the_same_word_is_a_broadcast(void **state)
{
    (void)state;
    struct banks got = banks_compute(0, 4);
    assert_int_equal(got.conflict_degree, 1);
    assert_true(got.broadcast);
}

static void narrow_words_share_a_bank_s_word(void **state)
{
    (void)state;
    assert_true(banks_compute(1, 1).broadcast && banks_compute(1, 2).broadcast);
    assert_int_equal(banks_compute(1, 1).conflict_degree, 1);
    assert_int_equal(banks_compute(4, 1).conflict_degree, 1);
    assert_int_equal(banks_compute(64, 2).conflict_degree, 32);
}

static void wide_words_are_served_in_halves_and_quarters(void **state)
{
    (void)state;
    assert_int_equal(banks_compute(1, 8).conflict_degree, 1);
    assert_int_equal(banks_compute(1, 8).lanes_per_pass, 16);
    assert_int_equal(banks_compute(2, 8).conflict_degree, 2);
    assert_int_equal(banks_compute(1, 16).conflict_degree, 1);
    assert_int_equal(banks_compute(1, 16).lanes_per_pass, 8);
    assert_int_equal(banks_compute(8, 16).conflict_degree, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consecutive_words_are_one_line),
        cmocka_unit_test(a_stride_of_32_words_is_32_lines),
        cmocka_unit_test(a_misaligned_start_costs_a_sector),
        cmocka_unit_test(one_element_for_all_lanes_is_one_sector),
        cmocka_unit_test(every_request_touches_what_marking_bytes_finds),
        cmocka_unit_test(conflicts_are_the_common_divisor_with_32),
        cmocka_unit_test(the_same_word_is_a_broadcast),
        cmocka_unit_test(narrow_words_share_a_bank_s_word),
        cmocka_unit_test(wide_words_are_served_in_halves_and_quarters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
