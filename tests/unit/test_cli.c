/* What every verb relies on: numbers are read whole or refused, output files appear complete or not at all.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/cli.h"
#include "tests/unit/test.h"

static void integers_are_read_whole(void **state)
{
    (void)state;
    int64_t value = -1;
    assert_true(cli_integer("--top", "20", 0, 100, &value));
    assert_int_equal(value, 20);
    assert_true(cli_integer("--top", "-5", -5, 100, &value));
    assert_int_equal(value, -5);
}

static void what_is_no_integer_is_refused_and_the_value_kept(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "", " ", "x", "20x", "2.5", "1e3", "101", "-1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        int64_t value = 7;
        assert_false(cli_integer("--top", refused[i], 0, 100, &value));
        assert_int_equal(value, 7);
    }
}

static void numbers_are_finite_and_in_range(void **state)
{
    (void)state;
    double value = 7;
    assert_true(cli_number("-p", "0.25", 0, 1, &value));
    assert_true(value == 0.25);
    static const char *const refused[] = {"", "nan", "inf", "-0.1", "1.1", "0.5 ", "half"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(cli_number("-p", refused[i], 0, 1, &value));
        assert_true(value == 0.25);
    }
}

static void an_output_file_appears_when_it_is_closed(void **state)
{
    (void)state;
    char directory[] = "/tmp/test_cli.XXXXXX";
    assert_non_null(mkdtemp(directory));
    char path[64];
    snprintf(path, sizeof path, "%s/out", directory);
    struct cli_output *output = cli_output_open(path);
    assert_non_null(output);
    fputs("whole", cli_output_stream(output));
    assert_int_equal(access(path, F_OK), -1);
    assert_true(cli_output_close(output));

    char text[16] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "whole");
    unlink(path);
    assert_int_equal(rmdir(directory), 0); /* nothing else was left there */
}

static void an_output_that_cannot_be_made_is_refused(void **state)
{
    (void)state;
    assert_null(cli_output_open("/nonexistent/out"));
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    struct cli_output *output = cli_output_open("/dev/full");
    assert_non_null(output);
    fputs("lost", cli_output_stream(output));
    assert_false(cli_output_close(output));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_read_whole),
        cmocka_unit_test(what_is_no_integer_is_refused_and_the_value_kept),
        cmocka_unit_test(numbers_are_finite_and_in_range),
        cmocka_unit_test(an_output_file_appears_when_it_is_closed),
        cmocka_unit_test(an_output_that_cannot_be_made_is_refused),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
