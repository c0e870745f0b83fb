/* Divergence: probabilities and costs of a two-way branch, and the way back from a measured efficiency. */
#include "model/divergence.h"

#include <math.h>
#include <stdbool.h>

enum { WARP_LANES = 32 };

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* 1 − (1 − p)³², also where p is so small that 1 − p rounds to 1. */
static double any_of_a_warp(double probability)
{
    return probability >= 1 ? 1 : -expm1(WARP_LANES * log1p(-probability));
}

static struct divergence with_costs(struct divergence result, double share,
                                    const struct divergence_branch *branch)
{
    result.expected_cost =
        result.warp_issues_path * branch->then_cost + result.warp_issues_else * branch->else_cost;
    result.ideal_cost = share * branch->then_cost + (1 - share) * branch->else_cost;
    bool costs = result.ideal_cost > 0; /* also false for a product too small for a double */
    result.divergence_tax = costs ? result.expected_cost / result.ideal_cost : 1;
    result.lane_utilization = costs ? result.ideal_cost / result.expected_cost : 1;
    return result;
}

/* Each lane by itself. The rarer path is the one with an accurate probability. */
static struct divergence random_lanes(double p)
{
    double rarer = smaller(p, 1 - p);
    return (struct divergence){.warp_issues_path = any_of_a_warp(p),
                               .warp_issues_else = any_of_a_warp(1 - p),
                               .warp_diverges = any_of_a_warp(rarer) - pow(rarer, WARP_LANES)};
}

/* Every n-th thread: a path that fewer than one lane in 32 takes is found in some warps only. */
static struct divergence interleaved_lanes(double p)
{
    double rarer = smaller(p, 1 - p);
    return (struct divergence){.warp_issues_path = smaller(1, WARP_LANES * p),
                               .warp_issues_else = smaller(1, WARP_LANES * (1 - p)),
                               .warp_diverges = smaller(1, WARP_LANES * rarer)};
}

struct divergence divergence_compute(enum divergence_pattern pattern, const struct divergence_branch *branch)
{
    double p = branch->lane_probability;
    switch (pattern) {
    case DIVERGENCE_ALIGNED:
        return with_costs((struct divergence){.warp_issues_path = p, .warp_issues_else = 1 - p}, p, branch);
    case DIVERGENCE_INTERLEAVED:
        return with_costs(interleaved_lanes(p), p, branch);
    case DIVERGENCE_RANDOM:
    default:
        return with_costs(random_lanes(p), p, branch);
    }
}

struct divergence divergence_of_split(int lanes, double then_cost, double else_cost)
{
    const struct divergence_branch branch = {(double)lanes / WARP_LANES, then_cost, else_cost};
    const bool some_take = lanes > 0, some_do_not = lanes < WARP_LANES;
    const struct divergence paths = {.warp_issues_path = some_take,
                                     .warp_issues_else = some_do_not,
                                     .warp_diverges = some_take && some_do_not};
    return with_costs(paths, branch.lane_probability, &branch);
}

static double warp_agrees(double probability)
{
    return pow(probability, WARP_LANES) + pow(1 - probability, WARP_LANES);
}

double divergence_lane_probability(double branch_efficiency)
{
    double low = 0, high = 0.5; /* efficiency falls from 1 to 2⁻³¹ between them */
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = (low + high) / 2;
        if (middle == low || middle == high) {
            break;
        }
        if (warp_agrees(middle) > branch_efficiency) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return branch_efficiency >= 1 ? 0 : high;
}
