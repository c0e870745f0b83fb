/* How many clusters fit on a device at once when there is no driver to ask (cuOccupancyMaxActiveClusters).
 *
 * A cluster stays inside one graphics processing cluster (GPC). GPCs lose SMs to yield, two at a time, and
 * differently from die to die, so the published SM count gives a range, not a number. See docs/waves.md. */
#ifndef WARPWATCH_CLUSTERS_H
#define WARPWATCH_CLUSTERS_H

enum {
    CLUSTER_CAPABILITY = 90, /* the first that has them: 9.0 */
    CLUSTER_BLOCKS_MAX = 16  /* with the function attribute that allows a non-portable size */
};

struct cluster_device {
    int sms;
    int gpcs;        /* 0 unknown */
    int sms_per_gpc; /* of a complete one; 0 unknown */
};

struct cluster_capacity {
    int least, most; /* over every way to spread the SMs over the GPCs; least is 0 where GPCs are unknown */
    int even;        /* SMs spread evenly; `most` where GPCs are unknown */
};

struct cluster_capacity clusters_active(const struct cluster_device *device, int cluster_blocks,
                                        int blocks_per_sm);

#endif
