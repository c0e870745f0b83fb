/* Waves and the tail: how a grid fills the device over time. Explained in docs/waves.md.
 * slots = blocks that can be resident on the device at once; waves = blocks ÷ slots. */
#ifndef WARPWATCH_WAVES_H
#define WARPWATCH_WAVES_H

#include <stdbool.h>
#include <stdint.h>

struct waves {
    uint64_t slots; /* 0: cannot run, the rest is then meaningless */
    double waves;
    uint64_t full_waves;  /* floor */
    double tail_fullness; /* blocks of the last, partial wave ÷ slots; 1 without one */
    double tail_waste;    /* 1 − blocks ÷ (ceil(waves) × slots) */
    uint64_t idle_sms;    /* SMs without a block in the only or last wave, blocks spread evenly */
};

/* Of a device with that many slots, however they came about. */
struct waves waves_of_slots(uint64_t blocks, uint64_t slots, unsigned sms);

/* blocks ≥ 1, blocks_per_sm ≥ 0, sms ≥ 1. */
struct waves waves_compute(uint64_t blocks, unsigned sms, unsigned blocks_per_sm);
/* Cluster launches: in units of clusters that can be resident at once (cuOccupancyMaxActiveClusters). */
struct waves waves_of_clusters(uint64_t blocks, unsigned cluster_blocks, unsigned max_active_clusters,
                               unsigned sms);

/* blocks ÷ (waves begun × slots): the share of block slots that do work over the whole grid. */
double waves_slot_utilization(uint64_t blocks, uint64_t slots);
/* The least count from which on every grid keeps that utilization (0 < utilization ≤ 1): a tail can only
 * cost less from there. 0: no such count below 2⁶³, as for utilization 1 with more than one slot. */
uint64_t waves_always_from_blocks(double utilization, uint64_t slots);

/* The shape of persistent kernels: as many blocks on each SM as on the next, and all of them resident. */
bool waves_look_persistent(uint64_t blocks, unsigned sms, uint64_t slots);

/* Lanes of the last warp of each block that have no thread. */
unsigned waves_idle_lanes_per_block(unsigned threads);

#endif
