/* Numbers and names in sentences. */
#include "test.h"

#include <string.h>

#include "report/findings/words.h"

static void numbers_read_well(void **state)
{
    (void)state;
    assert_string_equal(COUNT(0), "0");
    assert_string_equal(COUNT(999), "999");
    assert_string_equal(COUNT(UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(PERCENT(0.498106), "49.8 %");
    assert_string_equal(PERCENT(0.5), "50 %");
    assert_string_equal(PERCENT(1), "100 %");
    assert_string_equal(PERCENT(0.99999), "99.999 %");
    assert_string_equal(PERCENT(0.0001), "0.01 %");
    assert_string_equal(PERCENT(1e-9), "<0.0001 %");
    assert_string_equal(PERCENT(1 - 1e-9), ">99.9999 %");
    assert_string_equal(WAVES(265.0 / 264), "1.004");
    assert_string_equal(WAVES(2), "2");
    assert_string_equal(WAVES(19.39), "19.4");
    assert_string_equal(WAVES(0.000473), "0.000473");
    assert_string_equal(WAVES(378.8), "378");
    assert_string_equal(BYTES(1), "1 byte");
    assert_string_equal(BYTES(1000), "1,000 bytes");
    assert_string_equal(BYTES(98304), "96 KB");
    assert_string_equal(DURATION(999), "999 ns");
    assert_string_equal(DURATION(2815), "2.81 µs");
    assert_string_equal(DURATION(3e9), "3 s");
    assert_string_equal(PLURAL(1, "launch"), "1 launch");
    assert_string_equal(PLURAL(2, "launch"), "2 launches");
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'k', sizeof name);
    memcpy(name + 76, "é", 2);
    name[199] = 0;
    const char *cut = NAME(name);
    assert_int_equal(strlen(cut), 76 + strlen("…"));
    assert_string_equal(cut + 76, "…");
}

static void sentences_do_not_overflow(void **state)
{
    (void)state;
    struct sentence sentence = {.bytes = 0};
    for (int i = 0; i < 100; i++) {
        say(&sentence, "twenty characters... ");
    }
    assert_int_equal(strlen(sentence.text), sizeof sentence.text - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_well),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(sentences_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
