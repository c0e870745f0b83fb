/* The same launches judged on another GPU: what gets worse there first. */
#include <stdlib.h>
#include <string.h>

#include "findings/words.h"
#include "store/fold.h"
#include "text.h"

enum { SIDE = 21 }; /* occupancy, waves, idle */

static int worse_first(const void *left, const void *right)
{
    const struct folded *a = left, *b = right;
    if (a->elsewhere_loss != b->elsewhere_loss) {
        return a->elsewhere_loss > b->elsewhere_loss ? -1 : 1;
    }
    return (a->configuration > b->configuration) - (a->configuration < b->configuration);
}

static void write_side(const struct page *page, const struct judgement *judged)
{
    if (judged->valid & JUDGED_SLOTS && judged->slots == 0) {
        page_right(page, BAD, SIDE, "cannot run");
        return;
    }
    page_right(page, PLAIN, 6,
               judged->valid & JUDGED_OCCUPANCY ? short_percent(judged->theoretical_occupancy).text : "n/a");
    page_right(page, PLAIN, 8, judged->valid & JUDGED_WAVES ? short_waves(judged->waves).text : "n/a");
    if (judged->valid & JUDGED_WAVES) {
        page_right(page, text_style_of_idle(judged->tail_waste), 7, short_percent(judged->tail_waste).text);
    } else {
        page_right(page, FAINT, 7, "n/a");
    }
}

static void write_configuration(const struct page *page, const struct merged *merged,
                                const struct folded *folded)
{
    const struct merged_configuration *configuration = &merged->configurations[folded->configuration];
    struct sentence text = {"", 0};
    say_shape(&text, configuration->grid);
    say(&text, " × ");
    say_shape(&text, configuration->block);
    say(&text, ", %s", PLURAL(folded->launches, "launch"));
    page_left(page, PLAIN, page->columns - 2 * SIDE - 1, merged->kernels[configuration->kernel].short_name);
    write_side(page, &configuration->judged);
    page_text(page, FAINT, "|");
    write_side(page, &configuration->elsewhere);
    page_end(page);
    page_space(page, 2);
    page_text(page, FAINT, text.text);
    page_end(page);
}

static void write_heading(const struct page *page, const struct merged *merged)
{
    struct sentence title = {"", 0};
    say(&title, "ON %s · MODELLED, IT DID NOT RUN THERE", merged->elsewhere->limits.name);
    page_heading(page, title.text, "");
    page_left(page, FAINT, page->columns - 2 * SIDE - 1, "worse first; occupancy, waves, idle");
    page_right(page, FAINT, SIDE, "here");
    page_right(page, FAINT, SIDE + 1, "there");
    page_end(page);
}

/* How many of the rest get worse, stay as they are, get better. */
static void write_rest(const struct page *page, const struct folded *order, uint32_t from, uint32_t count)
{
    uint32_t worse = 0, better = 0;
    for (uint32_t i = from; i < count; i++) {
        worse += order[i].elsewhere_loss > 0;
        better += order[i].elsewhere_loss < 0;
    }
    if (from < count) {
        page_print(page, FAINT, "  and %s: %u worse there, %u the same, %u better",
                   PLURAL(count - from, "more configuration"), worse, count - from - worse - better, better);
        page_end(page);
    }
}

/* Of all kernels. NULL: out of memory. */
static struct folded *fold_all(const struct merged *merged, uint32_t *count)
{
    struct folded *all = malloc(((size_t)merged->configurations_count + 1) * sizeof *all);
    for (uint32_t i = 0; all && i < merged->kernels_count; i++) {
        uint32_t folded_count;
        struct folded *folded = fold_configurations(merged, &merged->kernels[i], &folded_count);
        if (!folded) {
            free(all);
            return NULL;
        }
        memcpy(all + *count, folded, folded_count * sizeof *folded);
        *count += folded_count;
        free(folded);
    }
    return all;
}

void text_elsewhere(const struct page *page, const struct merged *merged, uint32_t most)
{
    uint32_t count = 0;
    struct folded *order = merged->elsewhere ? fold_all(merged, &count) : NULL;
    if (!order) {
        return;
    }
    qsort(order, count, sizeof *order, worse_first);
    write_heading(page, merged);
    uint32_t shown = 0;
    while (shown < count && shown < most && (order[shown].elsewhere_loss > 0 || count <= most)) {
        write_configuration(page, merged, &order[shown++]);
    }
    write_rest(page, order, shown, count);
    free(order);
}
