/* What the WARPWATCH_ variables mean, and what a wrong value leads to. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/settings.h"

static const char *const variables[] = {"WARPWATCH_DISABLE",  "WARPWATCH_QUIET",   "WARPWATCH_TIMING",
                                        "WARPWATCH_COUNTERS", "WARPWATCH_TRACE",   "WARPWATCH_TIMES",
                                        "WARPWATCH_OUTPUT",   "WARPWATCH_LIVE",    "WARPWATCH_FILTER",
                                        "WARPWATCH_REPORT",   "WARPWATCH_TRACE_MB"};

static int clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        unsetenv(variables[i]);
    }
    return 0;
}

static void read_with(const char *variable, const char *value)
{
    clean(NULL);
    setenv(variable, value, 1);
    settings_read();
}

static void defaults(void **state)
{
    (void)state;
    char here[PATH_MAX];
    settings_read();
    assert_false(settings.disabled || settings.quiet || settings.timing || settings.counters ||
                 settings.trace);
    assert_true(settings.times);
    assert_int_equal(settings.problem_count, 0);
    assert_non_null(getcwd(here, sizeof here));
    assert_memory_equal(settings.output, here, strlen(here));
    assert_string_equal(settings.live, "");
    assert_string_equal(settings.report, "text");
    assert_int_equal(settings.trace_bytes, 256 << 20);
}

static void switches(void **state)
{
    (void)state;
    read_with("WARPWATCH_DISABLE", "1");
    assert_true(settings.disabled);
    read_with("WARPWATCH_TIMES", "0");
    assert_false(settings.times);
    read_with("WARPWATCH_TRACE", "1");
    assert_true(settings.trace && settings.times);
    read_with("WARPWATCH_QUIET", "");
    assert_false(settings.quiet);
    assert_int_equal(settings.problem_count, 0);
}

static void wrong_values_are_named_and_the_default_holds(void **state)
{
    (void)state;
    static const char *const wrong[][3] = {
        {"WARPWATCH_QUIET", "yes", "0 or 1"},
        {"WARPWATCH_TIMES", "2", "0 or 1"},
        {"WARPWATCH_REPORT", "pdf", "html"},
        {"WARPWATCH_REPORT", "text,", "html"},
        {"WARPWATCH_TRACE_MB", "0", "megabytes"},
        {"WARPWATCH_TRACE_MB", "-1", "megabytes"},
        {"WARPWATCH_TRACE_MB", "9999999999999999999999", "megabytes"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        read_with(wrong[i][0], wrong[i][1]);
        assert_int_equal(settings.problem_count, 1);
        assert_memory_equal(settings.problems[0], wrong[i][0], strlen(wrong[i][0]));
        assert_non_null(strstr(settings.problems[0], wrong[i][2]));
        assert_false(settings.quiet);
        assert_string_equal(settings.report, "text");
        assert_int_equal(settings.trace_bytes, 256 << 20);
    }
}

static void several_formats(void **state)
{
    (void)state;
    read_with("WARPWATCH_REPORT", "json,csv,html");
    assert_string_equal(settings.report, "json,csv,html");
    assert_int_equal(settings.problem_count, 0);
}

static void values_of_any_length(void **state)
{
    (void)state;
    char *endless = malloc(1 << 20);
    memset(endless, 'a', 1 << 20);
    endless[(1 << 20) - 1] = '\0';
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        read_with(variables[i], endless);
        assert_int_equal(settings.problem_count, 1);
    }
    endless[0] = '/';
    endless[PATH_MAX - 1] = '\0';
    read_with("WARPWATCH_OUTPUT", endless);
    assert_string_equal(settings.output, endless);
    assert_int_equal(settings.problem_count, 0);
    free(endless);
}

static void a_relative_directory_is_taken_from_here(void **state)
{
    (void)state;
    char here[PATH_MAX], expected[PATH_MAX + 16];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(expected, sizeof expected, "%s/some/where", here);
    read_with("WARPWATCH_OUTPUT", "some/where");
    assert_string_equal(settings.output, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults, clean),
        cmocka_unit_test_setup(switches, clean),
        cmocka_unit_test_setup(wrong_values_are_named_and_the_default_holds, clean),
        cmocka_unit_test_setup(several_formats, clean),
        cmocka_unit_test_setup(values_of_any_length, clean),
        cmocka_unit_test_setup(a_relative_directory_is_taken_from_here, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
