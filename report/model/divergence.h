/* Branch divergence: what it costs a warp when its lanes disagree. Explained in docs/divergence.md.
 *
 * A branch sends each lane down one of two paths. A warp issues every path that at least one of its lanes
 * takes, one after the other, so its cost is the sum of the paths issued, whatever the number of lanes. */
#ifndef WARPWATCH_DIVERGENCE_H
#define WARPWATCH_DIVERGENCE_H

enum divergence_pattern {
    DIVERGENCE_RANDOM,      /* each lane decides by itself, with the same probability */
    DIVERGENCE_INTERLEAVED, /* every n-th thread: each warp has the same share of lanes, or one more or less
                             */
    DIVERGENCE_ALIGNED      /* whole warps decide alike */
};

struct divergence_branch {
    double lane_probability; /* 0–1, that a lane takes the first path */
    double then_cost;        /* of the first path, in any unit */
    double else_cost;
};

struct divergence {
    double warp_issues_path; /* probability that a warp issues the first path */
    double warp_issues_else;
    double warp_diverges;    /* that it issues both */
    double expected_cost;    /* per warp */
    double ideal_cost;       /* if lanes were sorted by path, so that no warp issued both */
    double divergence_tax;   /* expected ÷ ideal: 2 = twice the work; 1 if both are 0 */
    double lane_utilization; /* useful lane-slots ÷ issued lane-slots: 1 ÷ tax */
};

struct divergence divergence_compute(enum divergence_pattern pattern, const struct divergence_branch *branch);
/* Exactly `lanes` of 32 take the first path. */
struct divergence divergence_of_split(int lanes, double then_cost, double else_cost);

/* Branch efficiency is the share of branches at which the warp does not diverge. Which lane probability
 * would make independent lanes diverge that often? The answer is at most 0.5; 1 minus it fits as well. Lanes
 * that decide independently diverge always but for one time in 2³¹ at 0.5: less efficiency than that, as an
 * even/odd split has, is no case of independent lanes, and gives 0.5. */
double divergence_lane_probability(double branch_efficiency);

#endif
