/* The kernels that waste most, each with its configurations: occupancy as a bar, waves as a strip. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/words.h"
#include "model/occupancy.h"
#include "names/visible.h"
#include "store/fold.h"
#include "text.h"

enum {
    INDENT = 4,
    SHAPE = 18,
    LAUNCHES = 12,
    BAR = 6,
    PERCENTAGE = 6,
    LIMITER = 11,
    STRIP = 6,
    WAVE_COUNT = 8
};

/* --- one line a configuration ------------------------------------------------------------------------------
 */

static void write_occupancy(const struct page *page, const struct judgement *judged)
{
    if (judged->valid & JUDGED_OCCUPANCY) {
        page_bar(page, PLAIN, judged->theoretical_occupancy, BAR);
        page_right(page, PLAIN, PERCENTAGE, short_percent(judged->theoretical_occupancy).text);
        page_space(page, 1);
        page_left(page, FAINT, LIMITER,
                  short_limiter(judged->theoretical_occupancy < 1 ? judged->limiters : 0).text);
    } else {
        page_right(page, FAINT, BAR + PERCENTAGE, "n/a");
        page_space(page, 1 + LIMITER);
    }
}

static void write_waves(const struct page *page, const struct judgement *judged)
{
    if (judged->valid & JUDGED_WAVES) {
        enum style style = text_style_of_idle(judged->tail_waste);
        page_waves(page, style, judged->full_waves, judged->tail_fullness, judged->tail_fullness < 1, STRIP);
        page_right(page, PLAIN, WAVE_COUNT, short_waves(judged->waves).text);
        page_right(page, style, PERCENTAGE, short_percent(judged->tail_waste).text);
    } else {
        page_right(page, FAINT, STRIP + WAVE_COUNT + PERCENTAGE, "n/a");
    }
}

static void write_shape(const struct page *page, const struct merged_configuration *configuration,
                        uint64_t launches)
{
    struct sentence shape = {"", 0};
    say_shape(&shape, configuration->grid);
    say(&shape, " × ");
    say_shape(&shape, configuration->block);
    page_space(page, INDENT);
    if (visible_columns(shape.text) > SHAPE) { /* never cut: it is what identifies the configuration */
        page_text(page, PLAIN, shape.text);
        page_end(page);
        page_space(page, INDENT + SHAPE);
    } else {
        page_left(page, PLAIN, SHAPE, shape.text);
    }
    page_right(page, PLAIN, LAUNCHES, short_count(launches).text);
    page_space(page, 2);
    write_occupancy(page, &configuration->judged);
    write_waves(page, &configuration->judged);
    page_end(page);
}

/* --- what is particular about one --------------------------------------------------------------------------
 */

static void say_joint(struct sentence *notes)
{
    say(notes, "%s", notes->bytes ? " · " : "");
}

static void say_limits(struct sentence *notes, const struct merged_configuration *configuration)
{
    const struct judgement *judged = &configuration->judged;
    bool several = judged->limiters & (judged->limiters - 1), driver = judged->limiters & LIMITER_DRIVER;
    if ((judged->valid & JUDGED_OCCUPANCY) && (several || driver) && judged->theoretical_occupancy < 1) {
        say_joint(notes);
        say(notes, "%s an SM, limited by %s", PLURAL(judged->blocks_per_sm, "block"),
            text_limiters(judged->limiters).text);
        if (driver && (judged->valid & JUDGED_LIMITS)) {
            say(notes, " (the model explains %u)", judged->model_blocks_per_sm);
        }
    }
    if (configuration->dynamic_shared_bytes) {
        say_joint(notes);
        say(notes, "%s dynamic shared", BYTES(configuration->dynamic_shared_bytes));
    }
    if (judged->idle_lanes_per_block) {
        say_joint(notes);
        say(notes, "%s a block", PLURAL(judged->idle_lanes_per_block, "idle lane"));
    }
}

static void say_labels(struct sentence *notes, const struct merged_configuration *configuration,
                       unsigned labels)
{
    for (unsigned i = 0; i < LABEL_KINDS; i++) {
        unsigned label = labels & 1u << i;
        if (label) {
            say_joint(notes);
        }
        if (label == LABEL_CLUSTER) {
            say(notes, "clusters of ");
            say_shape(notes, configuration->cluster);
        } else if (label == LABEL_PARTIAL_DEVICE) {
            say(notes, "on %s of the device", PLURAL(configuration->judged.sms, "SM"));
        } else if (label) {
            say(notes, "%s", launch_label_names[i]);
        }
    }
}

static void say_measured(struct sentence *notes, const struct store_measurement *measured)
{
    const struct {
        uint64_t bit;
        const char *text, *value;
    } figures[] = {
        {STORE_MEASURED_GPU_TIME, "GPU time, median", DURATION((double)measured->gpu_ns_median)},
        {STORE_MEASURED_OCCUPANCY, "achieved occupancy", PERCENT(measured->achieved_occupancy)},
        {STORE_MEASURED_LANES, "lanes in use", PERCENT(measured->lane_utilization)},
        {STORE_MEASURED_BRANCHES, "branch efficiency", PERCENT(measured->branch_efficiency)},
        {STORE_MEASURED_SECTORS, "sectors a request", DECIMAL(measured->sectors_per_request)},
        {STORE_MEASURED_BANKS, "bank conflicts a request", DECIMAL(measured->bank_conflicts_per_request)},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (measured->valid & figures[i].bit) {
            say_joint(notes);
            say(notes, "%s %s", figures[i].text, figures[i].value);
        }
    }
}

/* What is true of the kernel in all its configurations is said of the kernel. */
static unsigned labels_of_kernel(const struct merged *merged, const struct merged_kernel *kernel)
{
    unsigned labels = kernel->configurations ? LABEL_COMMUNICATION | LABEL_CONCURRENT | LABEL_TRITON : 0;
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        labels &= merged->configurations[kernel->first_configuration + i].labels;
    }
    return labels;
}

static void write_notes(const struct page *page, const struct merged_configuration *configuration,
                        uint32_t devices, unsigned said)
{
    struct sentence notes = {"", 0};
    if (devices > 1) {
        say(&notes, "on %s", PLURAL(devices, "GPU"));
    }
    say_limits(&notes, configuration);
    say_labels(&notes, configuration, configuration->labels & ~said);
    say_measured(&notes, &configuration->measured);
    if (notes.bytes) {
        page_paragraph(page, FAINT, INDENT + 2, "", notes.text, 4);
    }
}

/* --- one kernel --------------------------------------------------------------------------------------------
 */

static void write_resources(const struct page *page, const struct merged_kernel *kernel, unsigned labels)
{
    struct sentence text = {"", 0};
    if (kernel->valid & STORE_KERNEL_ATTRIBUTES) {
        say(&text, "%s", PLURAL(kernel->registers_per_thread, "register"));
        if (kernel->static_shared_bytes) {
            say(&text, " · %s static shared", BYTES(kernel->static_shared_bytes));
        }
        if (kernel->local_bytes) {
            say(&text, " · %s local", BYTES(kernel->local_bytes));
        }
    } else {
        say(&text, "resources not known");
    }
    for (unsigned i = 0; i < LABEL_KINDS; i++) {
        if (labels & 1u << i) {
            say(&text, " · %s", launch_label_names[i]);
        }
    }
    page_paragraph(page, FAINT, INDENT, "", text.text, 1);
}

static void write_rest(const struct page *page, const char *count, const char *what)
{
    page_space(page, INDENT);
    page_print(page, FAINT, "%s%s", count, what);
    page_end(page);
}

static void write_kernel(const struct page *page, const struct merged *merged, uint32_t index,
                         uint32_t shapes_most)
{
    const struct merged_kernel *kernel = &merged->kernels[index];
    page_right(page, FAINT, INDENT - 1, COUNT(index + 1));
    page_space(page, 1);
    page_fit(page, STRONG, page->columns - INDENT, kernel->short_name);
    page_end(page);
    char *name = visible(kernel->name);
    if (name && strncmp(name, kernel->short_name, strlen(name)) != 0) { /* "scale [32 registers]" has it */
        page_paragraph(page, FAINT, INDENT, "", name, 2);
    }
    free(name);
    unsigned labels = labels_of_kernel(merged, kernel);
    write_resources(page, kernel, labels);
    uint32_t count = 0;
    struct folded *folded = fold_configurations(merged, kernel, &count);
    for (uint32_t i = 0; folded && i < count && i < shapes_most; i++) {
        const struct merged_configuration *configuration = &merged->configurations[folded[i].configuration];
        write_shape(page, configuration, folded[i].launches);
        write_notes(page, configuration, folded[i].devices, labels);
    }
    free(folded);
    if (count > shapes_most) {
        write_rest(page, PLURAL(count - shapes_most, "more configuration"), "");
    }
    if (kernel->further_launches) {
        write_rest(page, PLURAL(kernel->further_launches, "launch"),
                   kernel->valid & STORE_KERNEL_FILTERED ? " without their shapes"
                                                         : " in configurations beyond the limit");
    }
}

void text_shapes(const struct page *page, const struct merged *merged, uint32_t kernels_most,
                 uint32_t shapes_most)
{
    uint32_t shown = merged->kernels_count < kernels_most ? merged->kernels_count : kernels_most;
    page_heading(page, "    grid × block          launches  occupancy, limit         waves         idle", "");
    for (uint32_t i = 0; i < shown; i++) {
        write_kernel(page, merged, i, shapes_most);
    }
}
