/* The files that the command line names, directories expanded. */
#ifndef WARPWATCH_SCAN_PATHS_H
#define WARPWATCH_SCAN_PATHS_H

#include <stddef.h>

struct scan_path {
    char *name;
    const char *directory; /* where it was found, so that it may be anything; NULL: it was named itself */
};
struct scan_paths {
    struct scan_path *at;
    size_t count, capacity;
    size_t faults; /* complained about */
};

/* `names` ends with NULL. What cannot be opened is complained about and left out. */
void scan_paths_collect(char **names, struct scan_paths *paths);
void scan_paths_free(struct scan_paths *paths);

#endif
