/* Text from untrusted files: what is spelled out, what is kept, how wide it is. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "report/names/visible.h"

struct example {
    const char *text, *shown;
};

static const struct example examples[] = {
    {"scale<256>(float*)", "scale<256>(float*)"},
    {"", ""},
    {"a\tb\nc\x1b[2J\x7f", "a\\x09b\\x0ac\\x1b[2J\\x7f"},
    {"\xc2\x85next line", "\\u0085next line"},
    {"\xe2\x80\xaereversed\xe2\x81\xa6", "\\u202ereversed\\u2066"},
    {"zero\xe2\x80\x8bwidth\xef\xbb\xbf", "zero\\u200bwidth\\ufeff"},
    {"\xf3\xa0\x81\x81tag", "\\U000e0041tag"},
    {"\xe6\x97\xa5\xe6\x9c\xac \xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac \xc3\xa9"},
    {"\xff\xfe", "\\xff\\xfe"},
    {"cut \xe6\x97", "cut \\xe6\\x97"},
    {"\xc0\x80", "\\xc0\\x80"},          /* overlong */
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
};

static void what_would_be_obeyed_or_not_seen_is_spelled_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char *shown = visible(examples[i].text);
        assert_string_equal(shown, examples[i].shown);
        assert_true(is_visible(shown));
        assert_int_equal(is_visible(examples[i].text), strcmp(examples[i].text, examples[i].shown) == 0);
        free(shown);
    }
}

static void json_gets_utf8_and_keeps_its_own_escapes(void **state)
{
    (void)state;
    char *valid = valid_utf8("a\x1b\xe2\x80\xae\xff");
    assert_string_equal(valid, "a\x1b\xe2\x80\xae\\xff");
    free(valid);
}

static void columns_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(visible_columns("abc"), 3);
    assert_int_equal(visible_columns("\xe6\x97\xa5\xe6\x9c\xac"), 4);
    assert_int_equal(visible_columns("e\xcc\x81"), 1);
    assert_int_equal(visible_bytes_within("\xe6\x97\xa5\xe6\x9c\xac", 3), 3);
    assert_int_equal(visible_bytes_within("abc", 0), 0);
    assert_int_equal(visible_bytes_within("e\xcc\x81x", 1), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_be_obeyed_or_not_seen_is_spelled_out),
        cmocka_unit_test(json_gets_utf8_and_keeps_its_own_escapes),
        cmocka_unit_test(columns_are_those_of_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
