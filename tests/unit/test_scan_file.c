/* Whole files as a scan reads them: archives, objects, caches, and files that are cut or shrink meanwhile. */
#include "tests/unit/test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "report/scan/select.h"
#include "tests/unit/seed.h"

/* --- a file that shrinks under the reader: the n-th pread cuts it ------------------------------------------
 */

static int preads_until_cut = -1, watched_fd = -1;
static off_t cut_to;

ssize_t __real_pread(int fd, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *out, size_t bytes, off_t offset)
{
    if (__atomic_fetch_sub(&preads_until_cut, 1, __ATOMIC_SEQ_CST) == 0) {
        assert_int_equal(ftruncate(watched_fd, cut_to), 0);
    }
    return __real_pread(fd, out, bytes, offset);
}

struct scanned {
    struct scan_file file;
    const char *why;
};

static struct scanned scan_bytes(const unsigned char *bytes, size_t size)
{
    char path[64];
    struct scanned scanned;
    const struct scan_options options = {0};
    watched_fd = memfd_create("scanned", MFD_CLOEXEC);
    assert_int_equal(write(watched_fd, bytes, size), (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", watched_fd);
    scanned.why = scan_file_read(path, &options, &scanned.file);
    close(watched_fd);
    return scanned;
}

static struct scanned scan_seed(const struct seed *seed)
{
    return scan_bytes(seed->bytes, seed->size);
}

static const char *const names[] = {"object.o", "archive.a", "loose.bin", "size.fatbin", "kernels.ptx"};
#define NAMES (sizeof names / sizeof *names)

static void every_kind_of_file_has_its_kernels(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        struct seed seed = seed_read(names[i]);
        struct scanned scanned = scan_seed(&seed);
        assert_null(scanned.why);
        assert_int_equal(scanned.file.undecodable_count, 0);
        assert_int_equal(scanned.file.kernels_count, strcmp(names[i], "kernels.ptx") == 0 ? 3 : 2);
        scan_file_free(&scanned.file);
        seed_free(&seed);
    }
}

static void a_file_that_shrinks_is_survived(void **state)
{
    (void)state;
    unsigned cuts = 0, said_so = 0;
    for (size_t i = 0; i < NAMES; i++) {
        struct seed seed = seed_read(names[i]);
        for (int at = 0; at < 12; at++) {
            preads_until_cut = at;
            cut_to = (off_t)(at % 3 == 0 ? 0 : seed.size / (size_t)(at % 3 + 1));
            struct scanned scanned = scan_seed(&seed);
            bool was_cut = preads_until_cut < 0;
            bool said = scanned.why || scanned.file.undecodable_count > 0;
            bool whole = scanned.file.kernels_count > 0;
            assert_true(was_cut ? said || whole || scanned.file.counts.cubins + scanned.file.counts.ptx == 0
                                : whole);
            scan_file_free(&scanned.file);
            cuts += was_cut;
            said_so += was_cut && said;
        }
        preads_until_cut = -1;
        seed_free(&seed);
    }
    assert_true(cuts > NAMES && said_so > NAMES);
}

/* Broken bytes may hide kernels, but make none. */
static void scan_broken(const unsigned char *bytes, size_t size, size_t most_kernels)
{
    struct scanned scanned = scan_bytes(bytes, size);
    assert_true(scanned.file.kernels_count <= most_kernels);
    scan_file_free(&scanned.file);
}

static void a_file_cut_anywhere_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        struct seed seed = seed_read(names[i]);
        for (size_t size = 0; size < seed.size; size += size < 300 ? 7 : 97) {
            scan_broken(seed.bytes, size, strcmp(names[i], "kernels.ptx") == 0 ? 3 : 2);
        }
        seed_free(&seed);
    }
}

static void a_host_file_cut_short_cannot_be_read(void **state)
{
    (void)state;
    struct seed seed = seed_read("object.o");
    for (size_t cut = 1; cut < seed.size; cut += 501) {
        struct scanned scanned = scan_bytes(seed.bytes, seed.size - cut);
        assert_non_null(scanned.why); /* libelf itself calls some of these a file without sections */
        scan_file_free(&scanned.file);
    }
    seed_free(&seed);
}

/* The member's size field is 10 characters at offset 48 of its header, the first header at 8. */
static void archive_members_of_any_size(void **state)
{
    (void)state;
    static const char *const sizes[] = {"0         ", "1         ", "99999999  ", "9999999999",
                                        "-1        ", "abc       ", "          "};
    struct seed seed = seed_read("archive.a");
    for (size_t header = 8; header + 60 < seed.size; header += 60) {
        if (memcmp(seed.bytes + header + 58, "`\n", 2) != 0) {
            continue;
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *broken = malloc(seed.size);
            memcpy(broken, seed.bytes, seed.size);
            memcpy(broken + header + 48, sizes[i], 10);
            scan_broken(broken, seed.size, 2);
            free(broken);
        }
    }
    seed_free(&seed);
}

static void other_files_hold_nothing(void **state)
{
    (void)state;
    struct scanned scanned = scan_bytes((const unsigned char *)"hello, world\n", 13);
    assert_null(scanned.why);
    assert_int_equal(scanned.file.kernels_count, 0);
    scan_file_free(&scanned.file);
    scanned = scan_bytes(NULL, 0);
    assert_null(scanned.why);
    scan_file_free(&scanned.file);
    struct scan_file file;
    const struct scan_options options = {0};
    assert_non_null(scan_file_read("/nonexistent", &options, &file));
    scan_file_free(&file);
    assert_non_null(scan_file_read("/dev/null", &options, &file));
    scan_file_free(&file);
}

/* --- selection ---------------------------------------------------------------------------------------------
 */

static void architectures_are_written_in_four_ways(void **state)
{
    (void)state;
    static const char *const good[] = {"sm_90", "90", "9.0"};
    static const char *const bad[] = {"",     "sm_",   "sm90", "9",      "90b", "9.0.0", "9.",
                                      "1000", "sm_9o", "-90",  "sm_90 ", "a90", "90aa"};
    uint32_t sm;
    char variant;
    for (size_t i = 0; i < 3; i++) {
        assert_true(scan_parse_arch(good[i], &sm, &variant));
        assert_int_equal(sm, 90);
        assert_int_equal(variant, 0);
    }
    assert_true(scan_parse_arch("sm_100f", &sm, &variant) && sm == 100 && variant == 'f');
    assert_true(scan_parse_arch("12.0a", &sm, &variant) && sm == 120 && variant == 'a');
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(scan_parse_arch(bad[i], &sm, &variant));
    }
}

static void what_runs_where(void **state)
{
    (void)state;
    assert_true(scan_runs_on(90, 90, 'a', false));
    assert_false(scan_runs_on(90, 80, 0, false));
    assert_true(scan_runs_on(89, 80, 0, false) && scan_runs_on(89, 86, 0, false));
    assert_false(scan_runs_on(86, 89, 0, false));
    assert_true(scan_runs_on(103, 100, 'f', false) && scan_runs_on(103, 100, 0, false));
    assert_false(scan_runs_on(103, 100, 'a', false));
    assert_false(scan_runs_on(120, 100, 'f', false));
    assert_true(scan_runs_on(120, 75, 0, true));
    assert_false(scan_runs_on(75, 80, 0, true) || scan_runs_on(100, 90, 'a', true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_file_has_its_kernels),
        cmocka_unit_test(a_file_that_shrinks_is_survived),
        cmocka_unit_test(a_file_cut_anywhere_is_survived),
        cmocka_unit_test(a_host_file_cut_short_cannot_be_read),
        cmocka_unit_test(archive_members_of_any_size),
        cmocka_unit_test(other_files_hold_nothing),
        cmocka_unit_test(architectures_are_written_in_four_ways),
        cmocka_unit_test(what_runs_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
