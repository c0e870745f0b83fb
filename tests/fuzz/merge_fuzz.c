/* Fuzz target: several stores, each process once, merged, judged and compared rank by rank. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "report/findings/findings.h"
#include "report/model/devices.h"
#include "report/store/judge.h"
#include "report/store/ranks.h"
#include "report/store/store.h"
#include "virtual_store.h"

static void ignore(const char *path, const char *reason)
{
    (void)path;
    (void)reason;
}

static const struct device *other_device; /* asked for once: looking it up takes longer than all the rest */

static void merge(const struct store_sources *sources)
{
    char reason[STORE_REASON_BYTES];
    struct merged *merged = merged_new();
    if (!merged) {
        abort();
    }
    merged->elsewhere = judge_listed_device(merged, other_device);
    for (size_t i = 0; i < sources->count; i++) {
        merged_add_store(merged, sources->paths[i], reason);
    }
    if (!merged_finish(merged)) {
        abort();
    }
    judge_all(merged);
    if (!ranks_compare(merged) || !findings_compute(merged)) {
        abort();
    }
    merged_free(merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    other_device = other_device ? other_device : device_find("t4");
    const char *paths[VIRTUAL_STORES_MAX];
    struct store_sources sources;
    uint8_t *copy = malloc(size + 1);
    if (!copy) {
        abort();
    }
    memcpy(copy, data, size);
    unsigned count = virtual_stores_open(copy, size);
    for (unsigned i = 0; i < count; i++) {
        paths[i] = virtual_store_path(i);
    }
    if (!store_sources_find(&sources, paths, count, ignore)) {
        abort();
    }
    merge(&sources);
    store_sources_free(&sources);
    virtual_stores_close();
    free(copy);
    return 0;
}
