/* The sections of the text report, each written by its own file. */
#ifndef WARPWATCH_TEXT_H
#define WARPWATCH_TEXT_H

#include "page.h"
#include "store/merged.h"

void text_head(const struct page *page, const struct merged *merged);
void text_findings(const struct page *page, const struct merged *merged, uint32_t most);
void text_kernels(const struct page *page, const struct merged *merged, uint32_t most);
void text_shapes(const struct page *page, const struct merged *merged, uint32_t kernels_most,
                 uint32_t shapes_most);
void text_elsewhere(const struct page *page, const struct merged *merged, uint32_t most);
void text_processes(const struct page *page, const struct merged *merged);
void text_foot(const struct page *page, const struct merged *merged);

/* "registers, shared memory", or "" where nothing is limited. */
struct limiter_text {
    char text[80];
};
struct limiter_text text_limiters(unsigned limiters);

/* How bad an idle share is. */
enum style text_style_of_idle(double share);

#endif
