/* Parts of the JSON view that the page's data is made of as well. */
#ifndef WARPWATCH_JSON_H
#define WARPWATCH_JSON_H

#include "json_text.h"
#include "views.h"

/* Single changes that let more warps reside on an SM: an array beside the fields of a configuration. */
void json_lifts(struct buffer *text, const struct merged *merged,
                const struct merged_configuration *configuration);

/* The report with the configurations of all kernels in one object of columns, see columns.h. */
bool view_json_in_columns(const struct merged *merged, const struct view_options *options, FILE *out);

#endif
