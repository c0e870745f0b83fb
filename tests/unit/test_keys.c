/* The table of launch keys: read by all threads while one changes it. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "shim/keys.h"

static struct keys keys;

/* The target is a function of the words, so that a reader can tell a wrong answer. */
static struct launch_words words_of(uint64_t number)
{
    return (struct launch_words){number + 1, number * 3, number * 5, number * 7, number % 2};
}

static uint32_t target_of(uint64_t number)
{
    return (uint32_t)(number * 2654435761u) & 0x0fffffff;
}

static uint32_t find(uint64_t number)
{
    struct launch_words words = words_of(number);
    return keys_find(&keys, &words, keys_hash(&words)).target;
}

static uint32_t insert(uint64_t number, uint32_t next)
{
    struct launch_words words = words_of(number);
    return keys_insert(&keys, &words, target_of(number), next);
}

static void keys_are_found_until_they_end(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    uint32_t chain[2] = {0, 0};
    keys_open(&keys);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_int_equal(find(i), STORE_NO_TARGET);
        chain[i % 2] = insert(i, chain[i % 2]);
        assert_true(chain[i % 2] != 0);
        assert_int_equal(find(i), target_of(i));
    }
    keys_end(&keys, chain[1]);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_int_equal(find(i), i % 2 ? STORE_NO_TARGET : target_of(i));
    }
    keys_end(&keys, chain[0]);
    assert_int_equal(find(0), STORE_NO_TARGET);
}

static void the_table_is_bounded(void **state)
{
    (void)state;
    keys_open(&keys);
    uint64_t kept = 0;
    while (insert(kept, 0)) {
        kept++;
    }
    assert_int_equal(kept, (1 << 17) - 1);
    assert_int_equal(find(kept - 1), target_of(kept - 1));
    assert_int_equal(find(kept), STORE_NO_TARGET);
}

/* Slots that a search passes before it finds the key, on average. */
static double passed(uint32_t count)
{
    const struct key_table *table = load_relaxed(&keys.table);
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= table->mask; i++) {
        const struct launch_key *key = &keys.records[load_relaxed(&table->slots[i])];
        struct launch_words words = {key->function, key->grid, key->block, key->extras, key->place};
        sum += load_relaxed(&table->slots[i]) ? (i - keys_home(table, keys_hash(&words))) & table->mask : 0;
    }
    return (double)sum / count;
}

/* Programs vary one dimension at a time: each that passed is a branch that was not foreseen. */
static void shapes_at_equal_distances_do_not_meet(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    for (int word = 0; word < 6; word++) {
        keys_open(&keys);
        for (uint32_t i = 0; i < COUNT; i++) {
            struct launch_words words = {0x1000, launch_grid_word(1, 1, 1), launch_block_word(256, 1, 1, 0),
                                         0, 0};
            words.function += word == 0 ? i * 0x90 : 0;
            words.grid = word == 1 ? launch_grid_word(i + 1, 1, 1) : words.grid;
            words.grid = word == 2 ? launch_grid_word(1, i + 1, 1) : words.grid;
            words.grid = word == 3 ? launch_grid_word(7, i % 100, i / 100) : words.grid;
            words.block = word == 4 ? launch_block_word(256, 1, 1, i * 16) : words.block;
            words.place = word == 5 ? i * 0x60 : 0;
            assert_true(keys_insert(&keys, &words, i, 0) != 0);
        }
        assert_true(passed(COUNT) < 1);
    }
}

enum { LIVE = 300, ROUNDS = 30000, READERS = 4 };
static atomic_bool finished;
static atomic_ulong wrong, found;

static void *read_all(void *unused)
{
    while (!finished) {
        for (uint64_t i = 0; i < 2 * LIVE; i++) {
            uint32_t target = find(i);
            wrong += target != STORE_NO_TARGET && target != target_of(i);
            found += target != STORE_NO_TARGET;
        }
    }
    return unused;
}

static void readers_never_get_a_wrong_target(void **state)
{
    (void)state;
    pthread_t readers[READERS];
    uint32_t chain[2 * LIVE] = {0};
    keys_open(&keys);
    for (int i = 0; i < READERS; i++) {
        pthread_create(&readers[i], NULL, read_all, NULL);
    }
    for (int round = 0; round < ROUNDS || found == 0; round++) {
        uint32_t i = (uint32_t)rand() % (2 * LIVE);
        if (chain[i]) {
            keys_end(&keys, chain[i]);
            chain[i] = 0;
        } else {
            chain[i] = insert(i, 0);
        }
    }
    finished = true;
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
    }
    assert_int_equal(wrong, 0);
    assert_true(found > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_until_they_end),
        cmocka_unit_test(the_table_is_bounded),
        cmocka_unit_test(shapes_at_equal_distances_do_not_meet),
        cmocka_unit_test(readers_never_get_a_wrong_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
