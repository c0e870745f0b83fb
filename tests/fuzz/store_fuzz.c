/* Fuzz target: a store file, from the reader through merging, judging and findings to every view. Each input
 * is read as it is and with its checks put right, so that what the checks guard is reached as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "report/findings/findings.h"
#include "report/model/devices.h"
#include "report/store/judge.h"
#include "report/store/ranks.h"
#include "report/store/store.h"
#include "report/views/select.h"
#include "report/views/views.h"

/* --- checks put right ------------------------------------------------------------------------------------
 */

static size_t guarded_bytes(uint32_t kind, size_t *check_at)
{
    switch (kind) {
    case STORE_DEVICES:
        *check_at = offsetof(struct store_device, check);
        return *check_at;
    case STORE_KERNELS:
        *check_at = offsetof(struct store_kernel, check);
        return 2 * sizeof(struct store_string);
    case STORE_CONFIGURATIONS:
        *check_at = offsetof(struct store_configuration, check);
        return offsetof(struct store_configuration, flags) + sizeof(uint32_t);
    case STORE_BODIES:
        *check_at = offsetof(struct store_body, check);
        return *check_at;
    default:
        return 0;
    }
}

static void put_check(uint8_t *record, size_t guarded, size_t check_at)
{
    uint32_t check = store_check(record, guarded);
    memcpy(record + check_at, &check, sizeof check);
}

static void repair(uint8_t *data, size_t size)
{
    if (size < STORE_BLOCK_BYTES) {
        return;
    }
    put_check(data, offsetof(struct store_header, check), offsetof(struct store_header, check));
    for (size_t at = STORE_BLOCK_BYTES; at + sizeof(struct store_extent) <= size;) {
        struct store_extent extent;
        memcpy(&extent, data + at, sizeof extent);
        size_t check_at = 0, guarded = guarded_bytes(extent.kind, &check_at), record = at + sizeof extent;
        for (uint32_t i = 0; guarded && i < extent.used && extent.record_bytes >= check_at + 4; i++) {
            if (record + extent.record_bytes > size) {
                break;
            }
            put_check(data + record, guarded, check_at);
            record += extent.record_bytes;
        }
        if (extent.bytes == 0 || extent.bytes > size) {
            break;
        }
        at += extent.bytes;
    }
}

/* --- one run ---------------------------------------------------------------------------------------------
 */

static void add(struct merged *merged, const uint8_t *data, size_t size)
{
    char path[64], reason[STORE_REASON_BYTES];
    int file = memfd_create("store", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) {
        abort();
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    merged_add_store(merged, path, reason);
    close(file);
}

static void show(const struct merged *merged)
{
    static FILE *nowhere;
    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    const struct view_options options = {.top = MERGED_NONE, .colour = true, .unicode = true, .columns = 80};
    view_text(merged, &options, nowhere);
    view_json(merged, &options, nowhere);
    view_csv(merged, &options, nowhere);
}

/* Twice the same store: merging adds up what it says against itself. */
static void report(const uint8_t *data, size_t size)
{
    struct merged *merged = merged_new();
    merged->elsewhere = judge_listed_device(merged, device_find("t4"));
    add(merged, data, size);
    add(merged, data, size);
    if (merged_finish(merged)) {
        judge_all(merged);
        if (merged_select(merged, NULL, NULL) && ranks_compare(merged) && findings_compute(merged)) {
            show(merged);
        }
    }
    merged_free(merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy) {
        abort();
    }
    memcpy(copy, data, size);
    report(copy, size);
    repair(copy, size);
    report(copy, size);
    free(copy);
    return 0;
}
