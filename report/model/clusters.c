/* Clusters that fit, over every spread of SMs over GPCs: a knapsack by pairs of SMs (TPCs). */
#include "model/clusters.h"

#include <limits.h>

enum { TPCS_MAX = 256, SMS_PER_TPC = 2 };

static int fit(int tpcs, int blocks_per_sm, int cluster_blocks)
{
    return tpcs * SMS_PER_TPC * blocks_per_sm / cluster_blocks;
}

/* best[t] becomes the least (sign 1) or most (sign -1) clusters on one GPC more, with t TPCs in all. */
static void add_gpc(int best[TPCS_MAX + 1], int tpcs, int tpcs_per_gpc, int blocks_per_sm, int cluster_blocks,
                    int sign)
{
    for (int total = tpcs; total >= 0; total--) {
        int found = INT_MAX;
        for (int here = 0; here <= tpcs_per_gpc && here <= total; here++) {
            if (best[total - here] != INT_MAX) {
                int clusters = best[total - here] + sign * fit(here, blocks_per_sm, cluster_blocks);
                found = clusters < found ? clusters : found;
            }
        }
        best[total] = found;
    }
}

static int extreme(int tpcs, int gpcs, int tpcs_per_gpc, int blocks_per_sm, int cluster_blocks, int sign)
{
    int best[TPCS_MAX + 1];
    for (int total = 1; total <= tpcs; total++) {
        best[total] = INT_MAX;
    }
    best[0] = 0;
    for (int gpc = 0; gpc < gpcs; gpc++) {
        add_gpc(best, tpcs, tpcs_per_gpc, blocks_per_sm, cluster_blocks, sign);
    }
    return sign * best[tpcs];
}

static int spread_evenly(int tpcs, int gpcs, int blocks_per_sm, int cluster_blocks)
{
    int larger = tpcs % gpcs;
    return larger * fit(tpcs / gpcs + 1, blocks_per_sm, cluster_blocks) +
           (gpcs - larger) * fit(tpcs / gpcs, blocks_per_sm, cluster_blocks);
}

struct cluster_capacity clusters_active(const struct cluster_device *device, int cluster_blocks,
                                        int blocks_per_sm)
{
    int tpcs = device->sms / SMS_PER_TPC;
    int tpcs_per_gpc = device->sms_per_gpc / SMS_PER_TPC;
    int anywhere = (int)((long long)device->sms * blocks_per_sm / cluster_blocks);
    if (device->gpcs < 1 || tpcs > TPCS_MAX || tpcs > device->gpcs * tpcs_per_gpc) {
        return (struct cluster_capacity){.least = 0, .most = anywhere, .even = anywhere};
    }
    return (struct cluster_capacity){
        .least = extreme(tpcs, device->gpcs, tpcs_per_gpc, blocks_per_sm, cluster_blocks, 1),
        .most = extreme(tpcs, device->gpcs, tpcs_per_gpc, blocks_per_sm, cluster_blocks, -1),
        .even = spread_evenly(tpcs, device->gpcs, blocks_per_sm, cluster_blocks),
    };
}
