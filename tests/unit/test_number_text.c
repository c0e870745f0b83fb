/* Numbers as text against printf, digit for digit, and back through strtod. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/number_text.h"
#include "tests/unit/test.h"

static void assert_text(double value, const char *expected)
{
    char text[NUMBER_TEXT_BYTES];
    assert_int_equal(number_text(value, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void the_shortest_of_15_and_17_digits(void **state)
{
    (void)state;
    assert_text(0, "0");
    assert_text(1, "1");
    assert_text(-3, "-3");
    assert_text(0.75, "0.75");
    assert_text(-0.25, "-0.25");
    assert_text(0.1 + 0.2, "0.30000000000000004");
    assert_text(1000.0 / 264, "3.7878787878787881");
    assert_text(0.0001, "0.0001");
    assert_text(1e-5, "1e-05");
    assert_text(123456789.125, "123456789.125");
    assert_text(1e300, "1e+300");
}

static void integers_of_64_bits_in_full(void **state)
{
    (void)state;
    char text[NUMBER_TEXT_BYTES];
    integer_text(INT64_MAX, text);
    assert_string_equal(text, "9223372036854775807");
    integer_text(INT64_MIN, text);
    assert_string_equal(text, "-9223372036854775808");
    integer_text(9007199254740993, text);
    assert_string_equal(text, "9007199254740993");
}

static void a_million_fractions_read_as_printf_writes_them(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 1000000; i++) {
        char text[NUMBER_TEXT_BYTES], reference[NUMBER_TEXT_BYTES];
        double value = (double)(i * 7919 % 1000003) / (1 + i % 4099);
        number_text(value, text);
        snprintf(reference, sizeof reference, "%.15g", value);
        if (strtod(reference, NULL) != value) {
            snprintf(reference, sizeof reference, "%.17g", value);
        }
        assert_true(strtod(text, NULL) == value);
        if (value >= 1e-4 && value < 1e15) {
            assert_string_equal(text, reference);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_of_15_and_17_digits),
        cmocka_unit_test(integers_of_64_bits_in_full),
        cmocka_unit_test(a_million_fractions_read_as_printf_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
