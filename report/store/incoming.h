/* One store on its way into the merged data: private to store/. */
#ifndef WARPWATCH_INCOMING_H
#define WARPWATCH_INCOMING_H

#include "merge.h"
#include "read.h"

/* Its records, and for each of them the index of the merged one. */
struct incoming {
    struct merged *merged;
    struct store_file *file;
    uint32_t process;
    struct store_records counters, bodies, nodes, measurements, shards, configurations, kernels, devices;
    uint32_t *devices_to, *kernels_to, *configurations_to; /* MERGED_NONE: unreadable */
    struct merged_share *counts;                           /* by configuration of the store */
    uint64_t *replays;                                     /* by body, then by node */
    uint64_t unreadable;                                   /* launches of what could not be read */
};

static inline struct merged_process *incoming_process(struct incoming *in)
{
    return &in->merged->processes[in->process];
}

/* What it describes becomes merged records. False: out of memory. */
bool incoming_describe(struct incoming *in);
/* The merged kernel for one of its kernel indices; MERGED_NONE: out of memory. */
uint32_t incoming_kernel(struct incoming *in, uint32_t index);
/* What it counted and measured is added to them. False: out of memory. */
bool incoming_count(struct incoming *in);

/* Which of it may have run beside other launches. False: out of memory. */
bool incoming_streams(struct incoming *in);

/* Fills what the header says of the process. False: out of memory. */
bool process_describe(struct merged *merged, struct merged_process *process, struct store_file *file,
                      const char *path);

#endif
