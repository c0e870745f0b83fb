/* Folds by shape and by what was judged of it. */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "table.h"

/* Of 4-byte members only, so that it can be compared as bytes. */
struct fold_key {
    uint32_t grid[3], block[3], cluster[3], dynamic_shared_bytes, labels;
    uint32_t valid, blocks_per_sm, sms, limiters, slots_low, slots_high;
};

static struct fold_key key_of(const struct merged_configuration *configuration)
{
    const struct judgement *judged = &configuration->judged;
    struct fold_key key = {
        .dynamic_shared_bytes = configuration->dynamic_shared_bytes,
        .labels = configuration->labels,
        .valid = judged->valid,
        .blocks_per_sm = judged->blocks_per_sm,
        .sms = judged->sms,
        .limiters = judged->limiters,
        .slots_low = (uint32_t)judged->slots,
        .slots_high = (uint32_t)(judged->slots >> 32),
    };
    memcpy(key.grid, configuration->grid, sizeof key.grid);
    memcpy(key.block, configuration->block, sizeof key.block);
    memcpy(key.cluster, configuration->cluster, sizeof key.cluster);
    return key;
}

struct folding {
    const struct merged *merged;
    struct folded *folded;
};

static bool fold_equal(const void *context, uint32_t index, const void *key)
{
    const struct folding *folding = context;
    struct fold_key known = key_of(&folding->merged->configurations[folding->folded[index].configuration]);
    return memcmp(&known, key, sizeof known) == 0;
}

/* Where among the folded the configuration belongs, taking it in if it is the first; UINT32_MAX: out of
 * memory.
 */
static uint32_t fold_in(struct folding *folding, struct table *table, uint32_t index, uint32_t *used)
{
    struct fold_key key = key_of(&folding->merged->configurations[index]);
    folding->folded[*used] = (struct folded){.configuration = index};
    uint32_t at = table_intern(table, table_hash(table, &key, sizeof key), *used, fold_equal, folding, &key);
    *used += at == *used;
    return at;
}

struct folded *fold_configurations(const struct merged *merged, const struct merged_kernel *kernel,
                                   uint32_t *count)
{
    struct folding folding = {merged, malloc(((size_t)kernel->configurations + 1) * sizeof(struct folded))};
    struct table table;
    *count = 0;
    table_open(&table);
    for (uint32_t i = 0; folding.folded && i < kernel->configurations; i++) {
        uint32_t index = kernel->first_configuration + i, at = fold_in(&folding, &table, index, count);
        if (at == UINT32_MAX) {
            free(folding.folded);
            folding.folded = NULL;
            break;
        }
        struct folded *into = &folding.folded[at];
        into->devices++;
        into->launches = merge_sum(into->launches, merged->configurations[index].launches);
        into->elsewhere_loss += merged->configurations[index].elsewhere_loss;
    }
    table_free(&table);
    return folding.folded;
}

static bool fold_kernel(struct folding *folding, const struct merged_kernel *kernel, uint32_t *first)
{
    struct table table;
    uint32_t used = 0;
    bool held = true;
    table_open(&table);
    for (uint32_t i = 0; held && i < kernel->configurations; i++) {
        uint32_t index = kernel->first_configuration + i, at = fold_in(folding, &table, index, &used);
        held = at != UINT32_MAX;
        first[index] = held ? folding->folded[at].configuration : index;
    }
    table_free(&table);
    return held;
}

uint32_t *fold_representatives(const struct merged *merged)
{
    size_t count = (size_t)merged->configurations_count + 1;
    uint32_t *first = malloc(count * sizeof *first);
    struct folding folding = {merged, malloc(count * sizeof(struct folded))};
    bool held = first && folding.folded;
    for (uint32_t i = 0; held && i < merged->kernels_count; i++) {
        held = fold_kernel(&folding, &merged->kernels[i], first);
    }
    free(folding.folded);
    if (!held) {
        free(first);
        return NULL;
    }
    return first;
}
