/* The views of a report: each writes the same data to a stream and does no arithmetic. */
#ifndef WARPWATCH_VIEWS_H
#define WARPWATCH_VIEWS_H

#include <stdio.h>

#include "store/merged.h"

struct view_options {
    uint32_t top;     /* kernels to show, MERGED_NONE: the view's own choice */
    bool chosen;      /* text only: kernels were picked by name, so show more of each */
    bool colour;      /* text only */
    bool unicode;     /* text only: bars and dashes beyond ASCII */
    unsigned columns; /* text only: width, at least 80 */
};

/* False: out of memory. A failed write shows in the stream's error flag. */
bool view_json(const struct merged *merged, const struct view_options *options, FILE *out);
bool view_csv(const struct merged *merged, const struct view_options *options, FILE *out);
bool view_text(const struct merged *merged, const struct view_options *options, FILE *out);
bool view_html(const struct merged *merged, const struct view_options *options, FILE *out);

#endif
