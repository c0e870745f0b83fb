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

struct folded *fold_configurations(const struct merged *merged, const struct merged_kernel *kernel,
                                   uint32_t *count)
{
    struct folding folding = {merged, malloc(((size_t)kernel->configurations + 1) * sizeof(struct folded))};
    struct table table;
    uint32_t used = 0;
    table_open(&table);
    for (uint32_t i = 0; folding.folded && i < kernel->configurations; i++) {
        uint32_t index = kernel->first_configuration + i;
        const struct merged_configuration *configuration = &merged->configurations[index];
        struct fold_key key = key_of(configuration);
        folding.folded[used] = (struct folded){.configuration = index};
        uint32_t at =
            table_intern(&table, table_hash(&table, &key, sizeof key), used, fold_equal, &folding, &key);
        if (at == UINT32_MAX) {
            free(folding.folded);
            folding.folded = NULL;
            break;
        }
        used += at == used;
        folding.folded[at].devices++;
        folding.folded[at].launches = merge_sum(folding.folded[at].launches, configuration->launches);
        folding.folded[at].elsewhere_loss += configuration->elsewhere_loss;
    }
    table_free(&table);
    *count = used;
    return folding.folded;
}
