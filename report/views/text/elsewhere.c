/* The same launches judged on another GPU: what gets worse there first. */
#include <math.h>
#include <stdlib.h>

#include "findings/words.h"
#include "names/visible.h"
#include "text.h"

enum { SIDE = 21 }; /* occupancy, waves, idle */

struct candidate {
    double loss;
    uint32_t configuration;
};

static int worse_first(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->loss != b->loss) {
        return a->loss > b->loss ? -1 : 1;
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

static void write_configuration(const struct page *page, const struct merged *merged, uint32_t index)
{
    const struct merged_configuration *configuration = &merged->configurations[index];
    const struct merged_kernel *kernel = &merged->kernels[configuration->kernel];
    struct sentence text = {"", 0};
    say(&text, "  %s × %u threads, %s", PLURAL(configuration->judged.blocks, "block"),
        configuration->block[0] * configuration->block[1] * configuration->block[2],
        PLURAL(configuration->launches, "launch"));
    page_left(page, PLAIN, page->columns - 2 * SIDE - 1, kernel->short_name);
    write_side(page, &configuration->judged);
    page_text(page, FAINT, "|");
    write_side(page, &configuration->elsewhere);
    page_end(page);
    page_text(page, FAINT, text.text);
    page_end(page);
}

void text_elsewhere(const struct page *page, const struct merged *merged, uint32_t most)
{
    struct candidate *order =
        merged->elsewhere ? calloc(merged->configurations_count + 1, sizeof *order) : NULL;
    if (!order) {
        return;
    }
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        order[i] = (struct candidate){merged->configurations[i].elsewhere_loss, i};
    }
    qsort(order, merged->configurations_count, sizeof *order, worse_first);
    struct sentence title = {"", 0};
    say(&title, "ON %s · MODELLED, IT DID NOT RUN THERE", merged->elsewhere->limits.name);
    page_heading(page, title.text, "");
    page_left(page, FAINT, page->columns - 2 * SIDE - 1, "worse first; occupancy, waves, idle");
    page_right(page, FAINT, SIDE, "here");
    page_right(page, FAINT, SIDE + 1, "there");
    page_end(page);
    for (uint32_t i = 0; i < merged->configurations_count && i < most; i++) {
        write_configuration(page, merged, order[i].configuration);
    }
    free(order);
}
