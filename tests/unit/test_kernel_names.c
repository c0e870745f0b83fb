/* Short names of real libraries' kernels: recognisable, without gaps, and told apart where they are the same.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/names/demangle.h"
#include "report/names/distinguish.h"

static const struct {
    const char *mangled, *short_name;
} kernels[] = {
#define KERNEL(mangled, short_name) {mangled, short_name},
#include "kernel_names.def"
#undef KERNEL
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void kernels_of_libraries(void **state)
{
    (void)state;
    for (size_t i = 0; i < KERNELS; i++) {
        char *name = demangle_short(kernels[i].mangled);
        assert_string_equal(name, kernels[i].short_name);
        free(name);
    }
}

static void no_argument_is_empty(void **state)
{
    (void)state;
    static const char *const gaps[] = {", ,", "<,", ", >", "<>"};
    for (size_t i = 0; i < KERNELS; i++) {
        for (size_t gap = 0; gap < 4; gap++) {
            assert_null(strstr(kernels[i].short_name, gaps[gap]));
        }
    }
}

#define FLASH(head, element)                                                                                 \
    "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi" head                                 \
    "ELi128ELi64ELi4ELb0ELb0EN7cutlass" element "E19Flash_kernel_traitsILi" head                             \
    "ELi128ELi64ELi4ES3_EELb0ELb1ELb0ELb0ELb0ELb1ELb0ELb0EEEvNS_16Flash_fwd_paramsE"

static void assert_told(const char *const mangled[], const char *const expected[], size_t count)
{
    char *names[8], *told[8];
    for (size_t i = 0; i < count; i++) {
        names[i] = demangle_name(mangled[i]);
    }
    assert_int_equal(names_distinguish((const char *const *)names, count, told), 0);
    for (size_t i = 0; i < count; i++) {
        if (expected[i]) {
            assert_string_equal(told[i], expected[i]);
        } else {
            assert_null(told[i]);
        }
        free(names[i]);
        free(told[i]);
    }
}

static void what_differs_tells(void **state)
{
    (void)state;
    static const char *const heads[] = {FLASH("64", "10bfloat16_t"), FLASH("128", "10bfloat16_t")};
    static const char *const by_head[] = {"64", "128"};
    assert_told(heads, by_head, 2);
    static const char *const both[] = {FLASH("64", "10bfloat16_t"), FLASH("128", "10bfloat16_t"),
                                       FLASH("64", "6half_t")};
    static const char *const by_both[] = {"64, bfloat16_t", "128, bfloat16_t", "64, half_t"};
    assert_told(both, by_both, 3);
    static const char *const flags[] = {"_Z4scanIfLb0EEvPT_", "_Z4scanIfLb1EEvPT_"};
    static const char *const by_flag[] = {"false", "true"};
    assert_told(flags, by_flag, 2);
}

static void the_same_name_is_not_told_apart(void **state)
{
    (void)state;
    static const char *const same[] = {"_Z5scalePfi", "_Z5scalePfi", "scale"};
    static const char *const nothing[] = {NULL, NULL, NULL};
    assert_told(same, nothing, 3);
}

static void where_one_name_has_no_word_stands_a_dash(void **state)
{
    (void)state;
    static const char *const names[] = {"_Z1fILi1EEvv", "_Z1fILi1ELi7EEvv"};
    static const char *const told[] = {"-", "7"};
    assert_told(names, told, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_libraries),
        cmocka_unit_test(no_argument_is_empty),
        cmocka_unit_test(what_differs_tells),
        cmocka_unit_test(the_same_name_is_not_told_apart),
        cmocka_unit_test(where_one_name_has_no_word_stands_a_dash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
