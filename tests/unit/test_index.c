/* The index by content against a plain table, and the pool and the texts beside it. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/index.h"
#include "shim/intern.h"
#include "shim/pool.h"

enum { THINGS = 4000 };

static uint32_t value[THINGS];
static bool present[THINGS];

static uint32_t hash_thing(uint32_t number)
{
    return value[number] % 97; /* many collide */
}

static bool same_thing(uint32_t number, const void *wanted)
{
    return value[number] == *(const uint32_t *)wanted;
}

static void finds_what_is_in_and_nothing_else(void **state)
{
    (void)state;
    struct index index = {.hash_of = hash_thing, .equal = same_thing};
    for (uint32_t i = 0; i < THINGS; i++) {
        value[i] = i * 7;
    }
    for (int step = 0; step < 60000; step++) {
        uint32_t number = (uint32_t)rand() % THINGS;
        if (present[number]) {
            index_remove(&index, hash_thing(number), number);
        } else {
            assert_true(index_insert(&index, hash_thing(number), number));
        }
        present[number] = !present[number];
        uint32_t asked = (uint32_t)rand() % THINGS;
        assert_int_equal(index_find(&index, hash_thing(asked), &value[asked]),
                         present[asked] ? asked : INDEX_NONE);
    }
    index_clear(&index);
    assert_int_equal(index_find(&index, 0, &value[0]), INDEX_NONE);
}

static void freed_items_are_used_again(void **state)
{
    (void)state;
    static struct pool pool = {.item_bytes = 24};
    uint32_t first = pool_take(&pool), second = pool_take(&pool);
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    memset(pool_item(&pool, first), 0xff, 24);
    pool_give(&pool, first);
    assert_int_equal(pool_take(&pool), first);
    static const char zeros[24];
    assert_memory_equal(pool_item(&pool, first), zeros, 24);
    for (uint32_t i = 3; i < 5000; i++) {
        assert_int_equal(pool_take(&pool), i);
        memset(pool_item(&pool, i), (int)i, 24);
    }
    assert_int_equal(*(unsigned char *)pool_item(&pool, 4999), 4999 & 0xff);
    pool_close(&pool);
    assert_int_equal(pool_take(&pool), 1);
}

static void equal_texts_are_kept_once(void **state)
{
    (void)state;
    char text[64];
    assert_int_equal(intern(NULL), 0);
    assert_int_equal(intern(""), 0);
    assert_string_equal(interned(0), "");
    uint32_t number[1000];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "kernel_%d", i);
        number[i] = intern(text);
        assert_true(number[i] != 0);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "kernel_%d", i);
        assert_int_equal(intern(text), number[i]);
        assert_string_equal(interned(number[i]), text);
    }
}

static void texts_without_end_are_refused(void **state)
{
    (void)state;
    char *longest = malloc(2 << 20);
    memset(longest, 'x', 2 << 20);
    longest[(2 << 20) - 1] = '\0';
    assert_int_equal(intern(longest), 0);
    /* 16 MB of them are kept, then no more; what is there stays right. */
    uint32_t first = 0, kept = 0;
    for (int i = 0; i < 40; i++) {
        longest[(900 << 10) + i] = '\0';
        memset(longest, 'a' + i % 26, 16);
        uint32_t number = intern(longest);
        first = first ? first : number;
        kept += number != 0;
        longest[(900 << 10) + i] = 'x';
    }
    assert_in_range(kept, 10, 16);
    assert_int_equal(interned(first)[0], 'a');
    free(longest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_in_and_nothing_else),
        cmocka_unit_test(freed_items_are_used_again),
        cmocka_unit_test(equal_texts_are_kept_once),
        cmocka_unit_test(texts_without_end_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
