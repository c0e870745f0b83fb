/* A launch's shape in three words and back. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "shim/launch.h"

static uint32_t any(uint32_t limit)
{
    return (uint32_t)((((uint64_t)rand() << 31) ^ (uint64_t)rand()) % limit);
}

static struct launch any_launch(void)
{
    struct launch launch = {
        .function = (void *)(uintptr_t)(any(UINT32_MAX) + 1u),
        .grid = {any(0x7fffffff) + 1, any(65535) + 1, any(65535) + 1},
        .block = {any(1024) + 1, any(1024) + 1, any(64) + 1},
        .shared_bytes = any(UINT32_MAX),
        .flags = any(1u << LAUNCH_FLAG_BITS),
        .stream = (CUstream)(uintptr_t)any(5),
    };
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = i && launch.grid[i] > 65535 ? 65535 : launch.grid[i];
        launch.cluster[i] = any(17);
        launch.preferred_cluster[i] = any(17);
    }
    return launch;
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct launch launch = any_launch(), back;
        struct launch_words words;
        assert_true(launch_pack(&launch, &words));
        launch_unpack(&words, launch.stream, &back);
        assert_memory_equal(&launch, &back, sizeof launch);
    }
}

static void different_shapes_have_different_words(void **state)
{
    (void)state;
    struct launch base = any_launch();
    struct launch_words words, other;
    launch_pack(&base, &words);
    uint32_t *const fields[] = {&base.grid[0],      &base.grid[1],    &base.grid[2],
                                &base.block[0],     &base.block[1],   &base.block[2],
                                &base.cluster[0],   &base.cluster[2], &base.preferred_cluster[1],
                                &base.shared_bytes, &base.flags};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *fields[i] ^= 1;
        launch_pack(&base, &other);
        assert_memory_not_equal(&words, &other, sizeof words);
        *fields[i] ^= 1;
    }
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct launch too_large[] = {
        {.grid = {1, 65536, 1}, .block = {1, 1, 1}},
        {.grid = {1, 1, 65536}, .block = {1, 1, 1}},
        {.grid = {1, 1, 1}, .block = {2048, 1, 1}},
        {.grid = {1, 1, 1}, .block = {1, 2048, 1}},
        {.grid = {1, 1, 1}, .block = {1, 1, 128}},
        {.grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {512, 1, 1}},
        {.grid = {1, 1, 1}, .block = {1, 1, 1}, .preferred_cluster = {1, 1, 512}},
    };
    struct launch_words words;
    for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++) {
        assert_false(launch_pack(&too_large[i], &words));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(different_shapes_have_different_words),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
