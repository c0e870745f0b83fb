/* The sections of the text report, each written by its own file. */
#ifndef WARPWATCH_TEXT_H
#define WARPWATCH_TEXT_H

#include "findings/words.h"
#include "page.h"
#include "store/merged.h"

void text_head(const struct page *page, const struct merged *merged);
void text_findings(const struct page *page, const struct merged *merged, uint32_t most);
void text_kernels(const struct page *page, const struct merged *merged, uint32_t most);
void text_shapes(const struct page *page, const struct merged *merged, uint32_t kernels_most,
                 uint32_t shapes_most);
void text_elsewhere(const struct page *page, const struct merged *merged, uint32_t most);
void text_processes(const struct page *page, const struct merged *merged);
void text_devices(const struct page *page, const struct merged *merged);
void text_foot(const struct page *page, const struct merged *merged);

/* "registers, shared memory", or "" where nothing is limited. */
struct limiter_text {
    char text[80];
};
struct limiter_text text_limiters(unsigned limiters);

struct short_text {
    char text[16];
};
/* "12 %", "<1 %", ">99 %": at most 5 columns, and never a whole that is none. */
struct short_text short_count(uint64_t count); /* 11 characters at most */
struct short_text short_percent(double fraction);
/* "1.004", "0.02", "<0.001": at most 7 columns below a million waves. */
struct short_text short_waves(double waves);
/* The first limiter, with a "+" if there are others: at most 10 columns. */
struct short_text short_limiter(unsigned limiters);

/* "4", "32×32", "8×4×2" */
void say_shape(struct sentence *sentence, const uint32_t shape[3]);

/* How bad an idle share is. */
enum style text_style_of_idle(double share);

#endif
