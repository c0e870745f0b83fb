/* A damaged store never crashes the reader, says that something is missing, and keeps what is whole. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/findings/findings.h"
#include "report/store/judge.h"
#include "report/store/ranks.h"
#include "report/store/store.h"
#include "report/views/select.h"
#include "report/views/views.h"
#include "store_writer.h"

enum { DIRECT_LAUNCHES = 1000, REPLAYS = 10 };

static unsigned char *whole;
static size_t whole_bytes;
static FILE *nowhere;

static int make_whole(void **state)
{
    (void)state;
    static const char command[] = "python\0train.py";
    struct store_writer writer;
    store_writer_begin(&writer, 77);
    store_writer_command(&writer, command, sizeof command);
    uint32_t device = store_writer_device(&writer, 0);
    uint32_t kernel = store_writer_kernel(&writer, "_Z5scalePfi", 32);
    uint32_t configuration = store_writer_configuration(&writer, kernel, device, 265, 1024);
    struct store_node node = {configuration, 2};
    store_writer_count(&writer, STORE_DIRECT, configuration, DIRECT_LAUNCHES);
    store_writer_count(&writer, STORE_REPLAY, store_writer_body(&writer, &node, 1), REPLAYS);
    struct store_measurement measurement = {.configuration = configuration, .valid = STORE_MEASURED_GPU_TIME};
    store_writer_record(&writer, STORE_MEASUREMENTS, &measurement);
    struct store_shard shard = {.thread = 77};
    store_writer_record(&writer, STORE_SHARDS, &shard);
    whole = store_writer_image(&writer, &whole_bytes);
    store_writer_free(&writer);
    nowhere = fopen("/dev/null", "w");
    return nowhere ? 0 : -1;
}

static int free_whole(void **state)
{
    (void)state;
    free(whole);
    return fclose(nowhere);
}

struct outcome {
    bool readable, damaged, reason_given;
    uint64_t launches, lost;
};

static void show(const struct merged *merged)
{
    const struct view_options options = {.top = MERGED_NONE, .unicode = true, .columns = 80};
    assert_true(view_text(merged, &options, nowhere));
    assert_true(view_json(merged, &options, nowhere));
    assert_true(view_csv(merged, &options, nowhere));
}

static struct outcome report_on(const unsigned char *bytes, size_t count)
{
    char path[64], reason[STORE_REASON_BYTES] = "";
    int file = memfd_create("store", MFD_CLOEXEC);
    assert_int_equal(write(file, bytes, count), count);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct merged *merged = merged_new();
    struct outcome outcome = {.readable = merged_add_store(merged, path, reason)};
    outcome.reason_given = reason[0] != '\0' && strchr(reason, '\n') == NULL;
    assert_true(merged_finish(merged));
    judge_all(merged);
    assert_true(merged_select(merged, NULL, NULL) && ranks_compare(merged) && findings_compute(merged));
    show(merged);
    if (outcome.readable) {
        outcome.damaged = merged->processes[0].damage != NULL;
        outcome.launches = merged->totals.launches;
        outcome.lost = merged->totals.lost;
    }
    merged_free(merged);
    close(file);
    return outcome;
}

static void the_whole_store_is_whole(void **state)
{
    (void)state;
    struct outcome outcome = report_on(whole, whole_bytes);
    assert_true(outcome.readable && !outcome.damaged);
    assert_int_equal(outcome.launches, DIRECT_LAUNCHES + 2 * REPLAYS);
    assert_int_equal(outcome.lost, 0);
}

/* Extents begin at multiples of the block, and within one everything happens in its first few hundred bytes.
 */
static bool worth_trying(size_t at)
{
    return at % STORE_BLOCK_BYTES < 400 || at % 509 == 0;
}

static void a_cut_store_says_so(void **state)
{
    (void)state;
    for (size_t count = 0; count < whole_bytes; count++) {
        if (worth_trying(count)) {
            struct outcome outcome = report_on(whole, count);
            assert_true(outcome.readable ? outcome.damaged : outcome.reason_given);
            assert_true(outcome.launches <= DIRECT_LAUNCHES + 2 * REPLAYS);
        }
    }
}

static void a_cut_before_the_last_extent_leaves_the_counts(void **state)
{
    (void)state;
    struct outcome outcome = report_on(whole, whole_bytes - STORE_BLOCK_BYTES); /* without the measurements */
    assert_true(outcome.readable && outcome.damaged);
    assert_int_equal(outcome.launches, DIRECT_LAUNCHES + 2 * REPLAYS);
}

static void any_byte_may_be_anything(void **state)
{
    (void)state;
    static const unsigned char masks[] = {0x01, 0x80, 0xff};
    unsigned char *bytes = malloc(whole_bytes);
    memcpy(bytes, whole, whole_bytes);
    for (size_t at = 0; at < whole_bytes; at++) {
        for (size_t i = 0; worth_trying(at) && i < sizeof masks; i++) {
            bytes[at] ^= masks[i];
            struct outcome outcome = report_on(bytes, whole_bytes);
            assert_true(outcome.readable || outcome.reason_given);
            bytes[at] ^= masks[i];
        }
    }
    free(bytes);
}

/* What a check guards is noticed when it changes: header, device, kernel, configuration, graph body. */
static void a_guarded_byte_that_changes_is_noticed(void **state)
{
    (void)state;
    unsigned char *bytes = malloc(whole_bytes);
    memcpy(bytes, whole, whole_bytes);
    for (size_t at = 0; at < offsetof(struct store_header, check); at++) {
        bytes[at] ^= 0x10;
        struct outcome outcome = report_on(bytes, whole_bytes);
        assert_true(outcome.readable ? outcome.damaged : outcome.reason_given);
        bytes[at] ^= 0x10;
    }
    for (size_t extent = STORE_BLOCK_BYTES; extent < whole_bytes; extent += STORE_BLOCK_BYTES) {
        const struct store_extent *head = (const struct store_extent *)(whole + extent);
        bool guarded = head->kind == STORE_DEVICES || head->kind == STORE_KERNELS ||
                       head->kind == STORE_CONFIGURATIONS || head->kind == STORE_BODIES;
        for (size_t at = extent + sizeof *head; guarded && at < extent + sizeof *head + 20; at++) {
            bytes[at] ^= 0x10;
            struct outcome outcome = report_on(bytes, whole_bytes);
            assert_true(outcome.readable && outcome.damaged);
            bytes[at] ^= 0x10;
        }
    }
    free(bytes);
}

static void a_zeroed_block_leaves_a_report(void **state)
{
    (void)state;
    unsigned char *bytes = malloc(whole_bytes);
    for (size_t block = 0; block < whole_bytes; block += STORE_BLOCK_BYTES) {
        memcpy(bytes, whole, whole_bytes);
        memset(bytes + block, 0, STORE_BLOCK_BYTES);
        struct outcome outcome = report_on(bytes, whole_bytes);
        assert_true(outcome.readable ? outcome.damaged : outcome.reason_given);
    }
    free(bytes);
}

/* A damaged configuration takes its launches from the counts, but not out of the report. */
static void launches_that_cannot_be_told_apart_are_lost(void **state)
{
    (void)state;
    unsigned char *bytes = malloc(whole_bytes);
    memcpy(bytes, whole, whole_bytes);
    for (size_t extent = STORE_BLOCK_BYTES; extent < whole_bytes; extent += STORE_BLOCK_BYTES) {
        struct store_extent *head = (struct store_extent *)(bytes + extent);
        if (head->kind == STORE_CONFIGURATIONS) {
            bytes[extent + sizeof *head] ^= 1;
        }
    }
    struct outcome outcome = report_on(bytes, whole_bytes);
    assert_true(outcome.readable && outcome.damaged);
    assert_int_equal(outcome.launches, 0);
    assert_int_equal(outcome.lost, DIRECT_LAUNCHES + 2 * REPLAYS);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_store_is_whole),
        cmocka_unit_test(a_cut_store_says_so),
        cmocka_unit_test(a_cut_before_the_last_extent_leaves_the_counts),
        cmocka_unit_test(any_byte_may_be_anything),
        cmocka_unit_test(a_guarded_byte_that_changes_is_noticed),
        cmocka_unit_test(a_zeroed_block_leaves_a_report),
        cmocka_unit_test(launches_that_cannot_be_told_apart_are_lost),
    };
    return cmocka_run_group_tests(tests, make_whole, free_whole);
}
