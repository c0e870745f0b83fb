/* Finds the containers of a region and what is in them, by headers alone. */
#ifndef WARPWATCH_SCAN_CONTAINERS_H
#define WARPWATCH_SCAN_CONTAINERS_H

#include "host_file.h"
#include "scan.h"

/* One container: its entries by header. `offsets[i]` is where entry i starts in the file. */
struct container {
    uint32_t index;
    const struct fatbin_entry *entries;
    const uint64_t *offsets;
    size_t count;
};

struct container_sink {
    void (*container)(void *context, const struct container *container);
    void (*cubin)(void *context, uint64_t offset, uint64_t bytes);
    void (*fault)(void *context, uint64_t offset, enum cubin_status status);
    void *context;
};

/* `next_index` counts the containers of the file. False: out of memory. */
bool containers_find(struct file_reader *reader, const struct host_region *region, uint32_t *next_index,
                     const struct container_sink *sink);

#endif
