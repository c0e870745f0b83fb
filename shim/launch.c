/* Packs a launch's shape into words and back. */
#include "launch.h"

static void unpack_cluster(uint64_t word, uint32_t cluster[3])
{
    for (int i = 0; i < 3; i++) {
        cluster[i] = (uint32_t)(word >> (i * LAUNCH_CLUSTER_BITS)) & ((1u << LAUNCH_CLUSTER_BITS) - 1);
    }
}

bool launch_pack(const struct launch *launch, struct launch_words *words)
{
    const uint32_t *grid = launch->grid, *block = launch->block;
    const uint32_t *cluster = launch->cluster, *preferred = launch->preferred_cluster;
    *words = (struct launch_words){
        .function = (uint64_t)(uintptr_t)launch->function,
        .grid = launch_grid_word(grid[0], grid[1], grid[2]),
        .block = launch_block_word(block[0], block[1], block[2], launch->shared_bytes),
        .extras = launch->flags | launch_cluster_word(cluster[0], cluster[1], cluster[2], false) |
                  launch_cluster_word(preferred[0], preferred[1], preferred[2], true),
    };
    return launch_packs(grid[1], grid[2], block[0], block[1], block[2]) &&
           launch_cluster_packs(cluster[0], cluster[1], cluster[2]) &&
           launch_cluster_packs(preferred[0], preferred[1], preferred[2]);
}

void launch_unpack(const struct launch_words *words, CUstream stream, struct launch *launch)
{
    *launch = (struct launch){
        .function = (void *)(uintptr_t)words->function,
        .grid = {(uint32_t)words->grid, (uint32_t)(words->grid >> 32) & 0xffff,
                 (uint32_t)(words->grid >> 48)},
        .block = {words->block & 0x7ff, words->block >> 11 & 0x7ff, words->block >> 22 & 0x7f},
        .shared_bytes = (uint32_t)(words->block >> 32),
        .flags = (uint32_t)words->extras & ((1u << LAUNCH_FLAG_BITS) - 1),
        .stream = stream,
    };
    unpack_cluster(words->extras >> LAUNCH_FLAG_BITS, launch->cluster);
    unpack_cluster(words->extras >> (LAUNCH_FLAG_BITS + 3 * LAUNCH_CLUSTER_BITS), launch->preferred_cluster);
}
