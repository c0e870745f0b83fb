/* What would lift a limit: the smallest change to a launch that lets one more block reside on an SM.
 * Explained in docs/occupancy.md. */
#ifndef WARPWATCH_LIFT_H
#define WARPWATCH_LIFT_H

#include "model/occupancy.h"

enum lift_kind {
    LIFT_REGISTERS,     /* per thread */
    LIFT_SHARED_MEMORY, /* static + dynamic bytes a block */
    LIFT_BARRIERS,      /* per block */
    LIFT_CARVEOUT,      /* percent of the SM's shared memory */
    LIFT_THREADS        /* per block; shared memory a block stays as it is */
};
#define LIFT_KINDS 5
/* "registers", "shared_memory", "barriers", "carveout", "threads". */
extern const char *const lift_names[LIFT_KINDS];

struct lift_change {
    enum lift_kind what;
    int to;
};

/* Changes that together give blocks_per_sm. Each goes as little far as possible: one register, byte or warp
 * less of a change and the block does not fit. */
struct lift {
    struct lift_change changes[LIFT_KINDS]; /* one; several where limits tie and must go together */
    int changes_count;
    int blocks_per_sm;
    double theoretical_occupancy;
    bool helps; /* more warps on the SM than before: a further but smaller block may bring none */
};

/* Up to LIFTS_MAX, in this order: resources that alone allow one block more; all tied resources together if
 * none alone does; the largest smaller block size that allows one more; the block size nearest to this one
 * that gives the highest occupancy. Returns their number. */
#define LIFTS_MAX 7
int lift_limits(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                struct lift lifts[LIFTS_MAX]);

#endif
