/* From paths to merged data: what a verb calls.
 *
 *     struct store_sources sources;
 *     store_sources_find(&sources, paths, count, complain);
 *     for each: merged_add_store(merged, sources.paths[i], reason);
 *     merged_finish(merged);
 *     judge_all(merged);                       (judge.h)
 */
#ifndef WARPWATCH_STORE_H
#define WARPWATCH_STORE_H

#include "merged.h"
#include "read.h"

/* The store files behind paths (files, directories, pointer files), each process once, in a stable order. */
struct store_sources {
    char **paths;
    size_t count;
};
typedef void store_complaint(const char *path, const char *reason);

/* Complains about each path that leads nowhere; false: out of memory. */
bool store_sources_find(struct store_sources *sources, const char *const *paths, size_t count,
                        store_complaint *complain);
void store_sources_free(struct store_sources *sources);

/* False: nothing of it could be read (or memory ran out), `reason` says why in a few words. */
bool merged_add_store(struct merged *merged, const char *path, char reason[STORE_REASON_BYTES]);

/* After the last store: orders processes, groups configurations by kernel, sums up. False: out of memory. */
bool merged_finish(struct merged *merged);

#endif
