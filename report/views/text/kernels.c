/* The table of kernels: one line each, what wastes most first. */
#include <stdio.h>
#include <string.h>

#include "findings/words.h"
#include "text.h"

enum { NUMBER = 4, LAUNCHES = 12, BAR = 8, PERCENTAGE = 6, LIMITER = 10 };
#define RIGHT_PART (LAUNCHES + 2 + BAR + PERCENTAGE + PERCENTAGE + 1 + LIMITER)

static void write_idle(const struct page *page, const struct merged_kernel *kernel)
{
    if (kernel->waves_known) {
        enum style style = text_style_of_idle(kernel->idle_share);
        page_bar(page, style, kernel->idle_share, BAR);
        page_right(page, style, PERCENTAGE, short_percent(kernel->idle_share).text);
    } else {
        page_right(page, FAINT, BAR + PERCENTAGE, "n/a");
    }
}

static void write_kernel(const struct page *page, const struct merged_kernel *kernel, uint32_t number)
{
    struct short_text limiter = short_limiter(kernel->theoretical_occupancy < 1 ? kernel->limiters : 0);
    page_right(page, FAINT, NUMBER - 1, COUNT(number));
    page_space(page, 1);
    page_left(page, PLAIN, page->columns - NUMBER - RIGHT_PART, kernel->short_name);
    page_right(page, PLAIN, LAUNCHES, short_count(kernel->launches).text);
    page_space(page, 2);
    write_idle(page, kernel);
    page_right(page, PLAIN, PERCENTAGE,
               kernel->occupancy_known ? short_percent(kernel->theoretical_occupancy).text : "n/a");
    page_text(page, FAINT, limiter.text[0] ? " " : "");
    page_text(page, FAINT, limiter.text);
    page_end(page);
}

void text_kernels(const struct page *page, const struct merged *merged, uint32_t most)
{
    char title[64];
    uint32_t shown = merged->kernels_count < most ? merged->kernels_count : most;
    if (shown < merged->kernels_count) {
        snprintf(title, sizeof title, "KERNELS, %u of %u", shown, merged->kernels_count);
    } else {
        snprintf(title, sizeof title, "KERNELS");
    }
    page_heading(page, title, "launches  SM slots idle  occupancy, limit");
    for (uint32_t i = 0; i < shown; i++) {
        write_kernel(page, &merged->kernels[i], i + 1);
    }
}
