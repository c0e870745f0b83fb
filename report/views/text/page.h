/* A page of text for a terminal or a file: columns that line up, colour only where wanted, ASCII where UTF-8
 * is not.
 *
 * Everything is written in Unicode; without it each character beyond ASCII is replaced by one ASCII
 * character, so that columns stay where they are. */
#ifndef WARPWATCH_PAGE_H
#define WARPWATCH_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum style { PLAIN, STRONG, FAINT, BAD, FAIR, GOOD };

struct page {
    FILE *out;
    bool colour, unicode;
    unsigned columns;
};

/* Text of untrusted origin must have gone through visible() before. */
void page_text(const struct page *page, enum style style, const char *text);
void page_print(const struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_space(const struct page *page, unsigned count);
void page_end(const struct page *page);

/* In exactly `width` columns: cut in the middle with an ellipsis if longer. */
void page_left(const struct page *page, enum style style, unsigned width, const char *text);
void page_right(const struct page *page, enum style style, unsigned width, const char *text);

/* At most `width` columns, cut in the same way, nothing after it. */
void page_fit(const struct page *page, enum style style, unsigned width, const char *text);

/* Title at the left, note at the right edge, a line below. */
void page_heading(const struct page *page, const char *title, const char *note);

/* Words wrapped at the right edge, each line indented; the first begins with `lead` inside the indent. At
 * most `lines_most` lines, the last then ends in an ellipsis. */
void page_paragraph(const struct page *page, enum style style, unsigned indent, const char *lead,
                    const char *text, unsigned lines_most);

/* A bar of `cells` columns, filled to the fraction (0–1) in eighths. */
void page_bar(const struct page *page, enum style style, double fraction, unsigned cells);

/* One cell a wave, the last as high as it is full: `cells` columns, the middle of many waves left out. */
void page_waves(const struct page *page, enum style style, unsigned long long full_waves,
                double tail_fullness, bool partial, unsigned cells);

#endif
