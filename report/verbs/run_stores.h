/* Which stores a run wrote: those in its directory that were not there before and are of no other run. */
#ifndef WARPWATCH_RUN_STORES_H
#define WARPWATCH_RUN_STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_stores {
    const char *directory; /* the caller's */
    char **before;         /* names, sorted */
    size_t before_count;
    uint64_t start_realtime_ns;
    uint32_t number; /* WARPWATCH_RUN of what it starts; never 0 */
    char **paths;    /* of the run */
    size_t count;
};

/* False: out of memory. */
bool run_stores_begin(struct run_stores *stores, const char *directory);
bool run_stores_find(struct run_stores *stores);
void run_stores_free(struct run_stores *stores);

/* Beside the only store and named like it; of several, named after this process. The caller frees. */
char *run_stores_report_path(const struct run_stores *stores, const char *suffix);

#endif
