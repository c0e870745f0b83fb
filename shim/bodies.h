/* Bodies of graphs: what one replay launches, summed up. Equal bodies are stored once. */
#ifndef WARPWATCH_BODIES_H
#define WARPWATCH_BODIES_H

#include "resolve.h"
#include "store.h"

enum { BODIES_MOST = 65536 };

/* Targets and how often one replay counts for each. */
struct body_sum {
    struct body_part {
        uint32_t target; /* STORE_GRAPH_DIRECT or STORE_FURTHER_GRAPH; STORE_NO_TARGET is a free slot */
        uint32_t times;
        bool beside; /* so often it may run beside another of the replay's kernels */
    } * parts;       /* a hash table until it is packed */
    uint32_t mask, count;
    uint32_t beside; /* how many of the packed parts are, the last ones */
    uint32_t uncounted[3];
    bool order_known;
    bool whole; /* only configurations: it can be stored as a body */
};

bool body_sum_open(struct body_sum *sum, uint32_t nodes);
void body_sum_add(struct body_sum *sum, const struct resolved *resolved, bool beside);
void body_sum_close(struct body_sum *sum);
/* The index of the body, STORE_NO_TARGET if it cannot be stored. */
uint32_t bodies_find_or_add(struct body_sum *sum);
/* Counts one replay launch by launch, for the calling thread. */
void body_sum_count_singly(struct body_sum *sum);
void bodies_close(void);

#endif
