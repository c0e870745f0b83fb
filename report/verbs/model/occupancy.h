/* One launch as `warpwatch model occupancy` sees it. */
#ifndef WARPWATCH_MODEL_OCCUPANCY_H
#define WARPWATCH_MODEL_OCCUPANCY_H

#include <stdio.h>

#include "model/clusters.h"
#include "model/devices.h"
#include "model/occupancy.h"
#include "model/waves.h"

struct modelled_launch {
    const struct device *device; /* NULL: only a capability */
    struct occupancy_sm sm;
    struct occupancy_launch launch;
    struct occupancy occupancy;
    int cluster_blocks;               /* 1: none */
    struct cluster_capacity resident; /* clusters, if there is a device and a cluster */
    uint64_t blocks;                  /* 0: no grid */
    uint64_t slots;                   /* if there is a device */
    struct waves waves;               /* if modelled_launch_has_waves */
};

static inline bool modelled_launch_has_waves(const struct modelled_launch *launch)
{
    return launch->device && launch->blocks > 0 && launch->slots > 0;
}

void modelled_launch_explain(const struct modelled_launch *launch, FILE *stream);

#endif
