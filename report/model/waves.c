/* Waves, tail and idle lanes of a grid. */
#include "model/waves.h"

enum { WARP_LANES = 32 };

static struct waves fill(uint64_t blocks, uint64_t slots, unsigned sms)
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
    return fill(blocks, (uint64_t)sms * blocks_per_sm, sms);
}

struct waves waves_of_clusters(uint64_t blocks, unsigned cluster_blocks, unsigned max_active_clusters,
                               unsigned sms)
{
    return fill(blocks, (uint64_t)cluster_blocks * max_active_clusters, sms);
}

unsigned waves_idle_lanes_per_block(unsigned threads)
{
    return (WARP_LANES - threads % WARP_LANES) % WARP_LANES;
}
