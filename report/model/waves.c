/* Waves, tail and idle lanes of a grid. */
#include "model/waves.h"

enum { WARP_LANES = 32 };

struct waves waves_of_slots(uint64_t blocks, uint64_t slots, unsigned sms)
{
    struct waves result = {.slots = slots};
    if (slots == 0) {
        return result;
    }
    uint64_t tail_blocks = blocks % slots;
    result.full_waves = blocks / slots;
    result.waves = (double)blocks / (double)slots;
    result.tail_fullness = tail_blocks ? (double)tail_blocks / (double)slots : 1.0;
    uint64_t unused = tail_blocks ? slots - tail_blocks : 0;
    result.tail_waste = (double)unused / (double)(blocks + unused);
    uint64_t last_wave_blocks = tail_blocks ? tail_blocks : slots;
    result.idle_sms = last_wave_blocks < sms ? sms - last_wave_blocks : 0;
    return result;
}

struct waves waves_compute(uint64_t blocks, unsigned sms, unsigned blocks_per_sm)
{
    return waves_of_slots(blocks, (uint64_t)sms * blocks_per_sm, sms);
}

struct waves waves_of_clusters(uint64_t blocks, unsigned cluster_blocks, unsigned max_active_clusters,
                               unsigned sms)
{
    return waves_of_slots(blocks, (uint64_t)cluster_blocks * max_active_clusters, sms);
}

double waves_slot_utilization(uint64_t blocks, uint64_t slots)
{
    uint64_t begun = blocks / slots + (blocks % slots != 0);
    return (double)blocks / ((double)begun * (double)slots);
}

/* A wave is worst just after it began, with one block, and the later the wave the less that matters. So find
 * the first wave that is good enough even then, and the block count that makes the wave before it so. */
uint64_t waves_always_from_blocks(double utilization, uint64_t slots)
{
    const uint64_t most_waves = (UINT64_MAX >> 1) / slots;
    if (utilization >= 1 && slots > 1) {
        return 0;
    }
    uint64_t good_wave = 0, beyond = most_waves;
    while (good_wave < beyond) {
        uint64_t middle = good_wave + (beyond - good_wave) / 2;
        if (waves_slot_utilization(middle * slots + 1, slots) >= utilization) {
            beyond = middle;
        } else {
            good_wave = middle + 1;
        }
    }
    if (good_wave == 0) {
        return 1;
    }
    if (good_wave >= most_waves) {
        return 0;
    }
    uint64_t low = (good_wave - 1) * slots + 1, high = good_wave * slots;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (waves_slot_utilization(middle, slots) >= utilization) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool waves_look_persistent(uint64_t blocks, unsigned sms, uint64_t slots)
{
    return blocks >= sms && blocks % sms == 0 && blocks <= slots;
}

unsigned waves_idle_lanes_per_block(unsigned threads)
{
    return (WARP_LANES - threads % WARP_LANES) % WARP_LANES;
}
