/* Which block size to choose for a given amount of work, by a rule that is stated and can be argued with.
 * Explained in docs/advise.md.
 *
 * The rule: enough warps first, then the most even load. Sizes that keep too few warps on an SM to hide
 * latency are out; of the rest the one wins whose busiest SM has the least to do. */
#ifndef WARPWATCH_ADVISE_H
#define WARPWATCH_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/occupancy.h"

struct advise_work {
    uint64_t elements; /* one thread each */
    int registers_per_thread;
    int static_shared_bytes;
    int shared_per_thread_bytes;        /* dynamic shared memory that grows with the block */
    double latency_cycles;              /* of a typical stall; 0 unknown */
    double instructions_between_stalls; /* of one warp; 0 unknown */
};

struct advise_row {
    int threads;
    unsigned idle_lanes_per_block;
    struct occupancy occupancy;
    uint64_t blocks;              /* that cover all elements */
    uint64_t surplus_threads;     /* of those blocks, without an element */
    uint64_t uncovered_one_short; /* elements that one block fewer would leave uncomputed */
    uint64_t slots;               /* 0: this size cannot run; waves … excess are then meaningless */
    double waves;
    double tail_waste;
    double excess; /* what the busiest SM does ÷ an equal share − 1, in lanes: 0 even, 1 twice as much */
    bool enough_warps;
};

/* While one warp waits L cycles, each scheduler needs others to issue from, one instruction a cycle, and a
 * warp has I of them before it stalls itself: L ÷ I warps a scheduler. Whole warps per SM; 0 where the work
 * does not tell. */
int advise_warps_needed(const struct occupancy_sm *sm, const struct advise_work *work);

enum occupancy_error advise_row(const struct occupancy_sm *sm, unsigned sms, const struct advise_work *work,
                                int threads, struct advise_row *row);

struct advise_choice {
    size_t recommended;       /* index; SIZE_MAX: no size can run */
    size_t highest_occupancy; /* the largest size among those with the most warps */
    int warps_enough;         /* per SM, the bar that rows had to take */
    bool warps_from_latency;  /* else: three quarters of the most that any row reaches */
    bool bar_out_of_reach;    /* no row reaches what the latency asks for: the most has to do */
};

/* Judges `rows` against each other and fills their enough_warps. */
struct advise_choice advise_choose(struct advise_row *rows, size_t count, int warps_needed);

#define ADVISE_SIZES 10
extern const int advise_sizes[ADVISE_SIZES]; /* 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024 */
extern const char *const advise_rule;        /* the rule in one sentence */

#endif
