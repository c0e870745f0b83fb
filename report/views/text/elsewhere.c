/* The same launches judged on another GPU: what gets worse there first. */
#include <math.h>
#include <stdlib.h>

#include "findings/words.h"
#include "names/visible.h"
#include "text.h"

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
        page_right(page, BAD, 22, "cannot run");
        return;
    }
    page_right(page, PLAIN, 8,
               judged->valid & JUDGED_OCCUPANCY ? PERCENT(judged->theoretical_occupancy) : "n/a");
    page_right(page, PLAIN, 7, judged->valid & JUDGED_WAVES ? WAVES(judged->waves) : "n/a");
    if (judged->valid & JUDGED_WAVES) {
        page_right(page, text_style_of_idle(judged->tail_waste), 7, PERCENT(judged->tail_waste));
    } else {
        page_right(page, FAINT, 7, "n/a");
    }
}

static void write_configuration(const struct page *page, const struct merged *merged, uint32_t index)
{
    const struct merged_configuration *configuration = &merged->configurations[index];
    const struct merged_kernel *kernel = &merged->kernels[configuration->kernel];
    struct sentence shape = {"", 0};
    say(&shape, "%s × ", COUNT(configuration->judged.blocks));
    say(&shape, "%u×%u×%u", configuration->block[0], configuration->block[1], configuration->block[2]);
    page_left(page, PLAIN, page->columns - 46, kernel->short_name);
    page_space(page, 1);
    write_side(page, &configuration->judged);
    page_space(page, 1);
    write_side(page, &configuration->elsewhere);
    page_end(page);
    page_print(page, FAINT, "    %s threads, %s", shape.text, PLURAL(configuration->launches, "launch"));
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
    page_right(page, FAINT, page->columns - 23, "here: occ.  waves   idle");
    page_right(page, FAINT, 23, "there: occ.  waves   idle");
    page_end(page);
    for (uint32_t i = 0; i < merged->configurations_count && i < most; i++) {
        write_configuration(page, merged, order[i].configuration);
    }
    free(order);
}
