/* Growth of the store: extents back to back, records that never move, a limit that is an error and not a
 * signal. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/settings.h"
#include "shim/store.h"

static char path[] = "/tmp/test_shim_store.XXXXXX";

static int open_store(void **state)
{
    (void)state;
    settings.quiet = true;
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int file = mkstemp(path);
    return file < 0 ? -1 : store_map(file, path);
}

static int close_store(void **state)
{
    (void)state;
    int file = store.file;
    store_unmap();
    close(file);
    return unlink(path);
}

static void extents_lie_back_to_back(void **state)
{
    (void)state;
    struct store_kernel kernel = {.registers_per_thread = 1};
    void *first = NULL;
    for (uint32_t i = 0; i < 5000; i++) {
        kernel.constant_bytes = i;
        assert_int_equal(store_add(STORE_KERNELS, &kernel), i);
        struct store_string text;
        assert_true(store_add_string("name of a kernel", 16, &text));
        assert_memory_equal(store_text(&text), "name of a kernel", 16);
        first = first ? first : store_record(STORE_KERNELS, 0);
    }
    assert_ptr_equal(first, store_record(STORE_KERNELS, 0));
    for (uint32_t i = 0; i < 5000; i++) {
        assert_int_equal(((struct store_kernel *)store_record(STORE_KERNELS, i))->constant_bytes, i);
    }
    /* As a reader sees it: from the header on, extent after extent, to the end that the header names. */
    uint64_t offset = STORE_BLOCK_BYTES, kernels = 0;
    while (offset < store_header()->file_bytes) {
        const struct store_extent *extent = (const struct store_extent *)(store.base + offset);
        assert_int_equal(extent->magic, STORE_EXTENT_MAGIC);
        assert_int_equal(extent->bytes % STORE_BLOCK_BYTES, 0);
        kernels += extent->kind == STORE_KERNELS ? extent->used : 0;
        offset += extent->bytes;
    }
    assert_int_equal(offset, store_header()->file_bytes);
    assert_int_equal(kernels, 5000);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true((uint64_t)status.st_size >= offset);
}

static void a_text_longer_than_an_extent(void **state)
{
    (void)state;
    enum { BYTES = 3 << 20 };
    char *text = malloc(BYTES);
    memset(text, 'k', BYTES);
    struct store_string string;
    assert_true(store_add_string(text, BYTES, &string));
    assert_memory_equal(store_text(&string), text, BYTES);
    free(text);
}

static void a_limit_on_file_size_is_no_signal(void **state)
{
    (void)state;
    struct rlimit before, small = {256 << 10, RLIM_INFINITY};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct store_configuration configuration = {.kernel = 1};
    uint32_t added = 0;
    while (store_add(STORE_CONFIGURATIONS, &configuration) != STORE_NO_TARGET) {
        added++;
    }
    setrlimit(RLIMIT_FSIZE, &before);
    assert_in_range(added, 1000, 2048);
    assert_int_equal(store_count(STORE_CONFIGURATIONS), added);
    assert_int_equal(store.failure, EFBIG);
}

static void a_descriptor_that_someone_closed_is_not_written_to(void **state)
{
    (void)state;
    store_permit_holes();
    int number = store.file;
    close(number);
    char other[] = "/tmp/test_shim_store_other.XXXXXX";
    int theirs = mkstemp(other);
    assert_true(theirs >= 0 && dup2(theirs, number) == number);
    struct store_configuration configuration = {.kernel = 1};
    for (int i = 0; i < 5000; i++) {
        assert_true(store_add(STORE_CONFIGURATIONS, &configuration) != STORE_NO_TARGET);
        assert_true(i % 1000 || store_extend_hole(STORE_TRACE, 0, 1 << 20));
    }
    struct stat status;
    assert_int_equal(stat(other, &status), 0);
    assert_int_equal(status.st_size, 0);
    close(theirs);
    close(number);
    unlink(other);
}

/* Writes to all of it, as a trace does: page after page once they are there. */
static bool fill_extent(struct store_extent *extent)
{
    char *first = (char *)extent, *end = first + extent->bytes;
    for (char *page = first; page < end; page += PAGE_BYTES) {
        if (page > first && !store_populate(page, page + PAGE_BYTES) &&
            !store_fill(page, page + PAGE_BYTES)) {
            return false;
        }
        memset(page == first ? page + sizeof *extent : page, 1, PAGE_BYTES - sizeof *extent);
    }
    return true;
}

static uint64_t allocated_bytes(void)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true((uint64_t)status.st_size >= store.used_bytes);
    return (uint64_t)status.st_blocks * 512;
}

/* Where a file may have holes; elsewhere these are extents like others. */
static void a_hole_is_an_extent_like_others(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    store_permit_holes();
    bool holes = store.holes;
    uint64_t before = allocated_bytes();
    struct store_extent *first = store_extend_hole(STORE_TRACE, 7, BYTES);
    assert_non_null(first);
    assert_true(allocated_bytes() - before < (holes ? BYTES / 2 : 2 * BYTES));
    struct store_configuration configuration = {.kernel = 1};
    for (int i = 0; i < 5000; i++) {
        assert_true(store_add(STORE_CONFIGURATIONS, &configuration) != STORE_NO_TARGET);
    }
    struct store_extent *second = store_extend_hole(STORE_TRACE, 7, BYTES);
    assert_true(second && fill_extent(first) && fill_extent(second));
    assert_int_equal(store.holes, holes);
    assert_int_equal(first->magic, STORE_EXTENT_MAGIC);
    assert_int_equal(second->bytes, BYTES);
    assert_true(store_fill(first, first + BYTES / sizeof *first));
    assert_false(store.holes);
}

static void a_hole_beyond_the_limit_on_file_size_is_no_signal(void **state)
{
    (void)state;
    struct rlimit before, small = {2 << 20, RLIM_INFINITY};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    store_permit_holes();
    struct store_extent *extent;
    uint32_t extents = 0;
    while ((extent = store_extend_hole(STORE_TRACE, 0, 256 << 10)) && fill_extent(extent)) {
        extents++;
    }
    setrlimit(RLIMIT_FSIZE, &before);
    assert_in_range(extents, 6, 7);
    assert_null(extent);
}

static void without_a_file(void **state)
{
    (void)state;
    assert_int_equal(store_map(-1, ""), 0);
    struct store_configuration configuration = {.kernel = 1};
    for (int i = 0; i < 5000; i++) {
        assert_true(store_add(STORE_CONFIGURATIONS, &configuration) != STORE_NO_TARGET);
    }
    store_unmap();
    assert_null(store_extend(STORE_TRACE, 0, 4096));
    assert_null(store_extend_hole(STORE_TRACE, 0, 4096));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(extents_lie_back_to_back, open_store, close_store),
        cmocka_unit_test_setup_teardown(a_text_longer_than_an_extent, open_store, close_store),
        cmocka_unit_test_setup_teardown(a_limit_on_file_size_is_no_signal, open_store, close_store),
        cmocka_unit_test_setup_teardown(a_descriptor_that_someone_closed_is_not_written_to, open_store,
                                        close_store),
        cmocka_unit_test_setup_teardown(a_hole_is_an_extent_like_others, open_store, close_store),
        cmocka_unit_test_setup_teardown(a_hole_beyond_the_limit_on_file_size_is_no_signal, open_store,
                                        close_store),
        cmocka_unit_test(without_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
