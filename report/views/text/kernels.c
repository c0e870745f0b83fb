/* The table of kernels, and the configurations of the first of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/words.h"
#include "model/occupancy.h"
#include "names/visible.h"
#include "text.h"

/* --- one line a kernel ------------------------------------------------------------------------------------
 */

enum { NUMBER = 3, LAUNCHES = 12, BAR = 8, PERCENTAGE = 8, LIMITER = 10 };
#define RIGHT_PART (LAUNCHES + 2 + BAR + PERCENTAGE + PERCENTAGE + 1 + LIMITER)

static void write_kernel(const struct page *page, const struct merged_kernel *kernel, uint32_t number)
{
    struct limiter_text limiters = text_limiters(kernel->theoretical_occupancy < 1 ? kernel->limiters : 0);
    page_right(page, FAINT, NUMBER, COUNT(number));
    page_space(page, 1);
    page_left(page, PLAIN, page->columns - NUMBER - 1 - RIGHT_PART, kernel->short_name);
    page_right(page, PLAIN, LAUNCHES, COUNT(kernel->launches));
    page_space(page, 2);
    if (kernel->waves_known) {
        enum style style = text_style_of_idle(kernel->idle_share);
        page_bar(page, style, kernel->idle_share, BAR);
        page_right(page, style, PERCENTAGE, PERCENT(kernel->idle_share));
    } else {
        page_left(page, FAINT, BAR + PERCENTAGE, "n/a");
    }
    page_right(page, PLAIN, PERCENTAGE,
               kernel->occupancy_known ? PERCENT(kernel->theoretical_occupancy) : "n/a");
    page_space(page, 1);
    page_text(page, FAINT, strlen(limiters.text) <= LIMITER ? limiters.text : "several");
    page_end(page);
}

void text_kernels(const struct page *page, const struct merged *merged, uint32_t most)
{
    char title[64];
    uint32_t shown = merged->kernels_count < most ? merged->kernels_count : most;
    snprintf(title, sizeof title, "KERNELS (%u of %u)", shown, merged->kernels_count);
    page_heading(page, shown < merged->kernels_count ? title : "KERNELS",
                 "launches  SM slots idle   occupancy limit     ");
    for (uint32_t i = 0; i < shown; i++) {
        write_kernel(page, &merged->kernels[i], i + 1);
    }
}

/* --- one line a configuration ----------------------------------------------------------------------------
 */

static void shape_print(char *text, size_t bytes, const uint32_t shape[3])
{
    if (shape[2] > 1) {
        snprintf(text, bytes, "%u×%u×%u", shape[0], shape[1], shape[2]);
    } else if (shape[1] > 1) {
        snprintf(text, bytes, "%u×%u", shape[0], shape[1]);
    } else {
        snprintf(text, bytes, "%u", shape[0]);
    }
}

enum { GRID = 16, BLOCK = 11, SHARED = 8, SHAPE_LAUNCHES = 12, WAVES_CELLS = 6 };

static void write_shape(const struct page *page, const struct merged_configuration *configuration)
{
    const struct judgement *judged = &configuration->judged;
    char grid[48], block[48];
    shape_print(grid, sizeof grid, configuration->grid);
    shape_print(block, sizeof block, configuration->block);
    page_right(page, PLAIN, GRID, grid);
    page_right(page, PLAIN, BLOCK, block);
    page_right(page, PLAIN, SHARED,
               configuration->dynamic_shared_bytes ? BYTES(configuration->dynamic_shared_bytes) : "");
    page_right(page, PLAIN, SHAPE_LAUNCHES, COUNT(configuration->launches));
    page_space(page, 2);
    if (judged->valid & JUDGED_OCCUPANCY) {
        page_bar(page, PLAIN, judged->theoretical_occupancy, 6);
        page_right(page, PLAIN, 6, PERCENT(judged->theoretical_occupancy));
    } else {
        page_left(page, FAINT, 12, "n/a");
    }
    page_space(page, 2);
    if (judged->valid & JUDGED_WAVES) {
        page_waves(page, text_style_of_idle(judged->tail_waste), judged->full_waves, judged->tail_fullness,
                   judged->tail_fullness < 1, WAVES_CELLS);
        page_print(page, PLAIN, " %s", WAVES(judged->waves));
    } else {
        page_text(page, FAINT, "n/a");
    }
    page_end(page);
}

/* --- what is particular about one ------------------------------------------------------------------------
 */

static void add_labels(struct sentence *notes, const struct merged_configuration *configuration)
{
    for (unsigned i = 0; i < LABEL_KINDS; i++) {
        unsigned label = 1u << i;
        if (!(configuration->labels & label)) {
            continue;
        }
        say(notes, "%s", notes->bytes ? " · " : "");
        if (label == LABEL_CLUSTER) {
            char shape[48];
            shape_print(shape, sizeof shape, configuration->cluster);
            say(notes, "clusters of %s", shape);
        } else if (label == LABEL_PARTIAL_DEVICE) {
            say(notes, "on %u of the SMs only", configuration->judged.sms);
        } else {
            say(notes, "%s", launch_label_names[i]);
        }
    }
}

static void add_limits(struct sentence *notes, const struct judgement *judged)
{
    if (judged->valid & JUDGED_OCCUPANCY && judged->limiters && judged->theoretical_occupancy < 1) {
        say(notes, "%s%u blocks on an SM by %s", notes->bytes ? " · " : "", judged->blocks_per_sm,
            text_limiters(judged->limiters).text);
    }
    if (judged->limiters & LIMITER_DRIVER) {
        say(notes, " (the model explains %u)", judged->model_blocks_per_sm);
    }
    if (judged->idle_lanes_per_block) {
        say(notes, "%s%u idle lanes in each block", notes->bytes ? " · " : "", judged->idle_lanes_per_block);
    }
}

static void add_measured(struct sentence *notes, const struct store_measurement *measured)
{
    const struct {
        uint64_t bit;
        const char *text, *value;
    } figures[] = {
        {STORE_MEASURED_GPU_TIME, "median GPU time", DURATION((double)measured->gpu_ns_median)},
        {STORE_MEASURED_OCCUPANCY, "achieved occupancy", PERCENT(measured->achieved_occupancy)},
        {STORE_MEASURED_LANES, "lanes", PERCENT(measured->lane_utilization)},
        {STORE_MEASURED_BRANCHES, "branch efficiency", PERCENT(measured->branch_efficiency)},
        {STORE_MEASURED_SECTORS, "sectors a request", DECIMAL(measured->sectors_per_request)},
        {STORE_MEASURED_BANKS, "bank conflicts a request", DECIMAL(measured->bank_conflicts_per_request)},
    };
    const char *joint = notes->bytes ? " · measured: " : "measured: ";
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (measured->valid & figures[i].bit) {
            say(notes, "%s%s %s", joint, figures[i].text, figures[i].value);
            joint = ", ";
        }
    }
}

static void write_notes(const struct page *page, const struct merged_configuration *configuration)
{
    struct sentence notes = {"", 0};
    add_limits(&notes, &configuration->judged);
    add_labels(&notes, configuration);
    add_measured(&notes, &configuration->measured);
    if (notes.bytes) {
        page_paragraph(page, FAINT, GRID - 6, "", notes.text, 4);
    }
}

static void write_resources(const struct page *page, const struct merged_kernel *kernel)
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
    page_paragraph(page, FAINT, NUMBER + 1, "", text.text, 1);
}

static void write_detail(const struct page *page, const struct merged *merged,
                         const struct merged_kernel *kernel, uint32_t number, uint32_t shapes_most)
{
    page_right(page, FAINT, NUMBER, COUNT(number));
    page_space(page, 1);
    page_left(page, STRONG, page->columns - NUMBER - 1, kernel->short_name);
    page_end(page);
    char *name = visible(kernel->name);
    if (name && strcmp(name, kernel->short_name) != 0) {
        page_paragraph(page, FAINT, NUMBER + 1, "", name, 2);
    }
    free(name);
    write_resources(page, kernel);
    for (uint32_t i = 0; i < kernel->configurations && i < shapes_most; i++) {
        write_shape(page, &merged->configurations[kernel->first_configuration + i]);
        write_notes(page, &merged->configurations[kernel->first_configuration + i]);
    }
    if (kernel->configurations > shapes_most) {
        page_print(page, FAINT, "%*s… and %s", GRID - 6, "",
                   PLURAL(kernel->configurations - shapes_most, "configuration"));
        page_end(page);
    }
    if (kernel->further_launches) {
        page_print(page, FAINT, "%*s%s not told apart", GRID - 6, "",
                   PLURAL(kernel->further_launches, "launch"));
        page_end(page);
    }
}

void text_shapes(const struct page *page, const struct merged *merged, uint32_t kernels_most,
                 uint32_t shapes_most)
{
    uint32_t shown = merged->kernels_count < kernels_most ? merged->kernels_count : kernels_most;
    page_heading(page, "           GRID      BLOCK  SHARED    LAUNCHES  OCCUPANCY     WAVES", "");
    for (uint32_t i = 0; i < shown; i++) {
        write_detail(page, merged, &merged->kernels[i], i + 1, shapes_most);
    }
}
