/* From stores to one written report: what `warpwatch report` and `warpwatch run` share. */
#ifndef WARPWATCH_REPORT_MAKE_H
#define WARPWATCH_REPORT_MAKE_H

#include <regex.h>
#include <stddef.h>

#include "store/merged.h"
#include "views/views.h"

typedef bool view_function(const struct merged *merged, const struct view_options *options, FILE *out);

struct report_format {
    const char *name;
    const char *suffix; /* of a report's file */
    view_function *write;
};
/* NULL after a complaint that names `option`. */
const struct report_format *report_format_named(const char *option, const char *name);

struct report_request {
    const struct report_format *format;
    const char *output;          /* path; NULL: `stream` */
    FILE *stream;                /* stdout or stderr */
    const char *sort;            /* NULL: what wastes most first */
    const struct device *device; /* NULL: where it ran only */
    const regex_t *kernel;       /* NULL: all */
    uint32_t top;                /* MERGED_NONE: the view's choice */
    const char *const *paths;
    size_t paths_count;
};

/* Complains about what it cannot read or write; returns the exit status. */
int report_make(const struct report_request *request);

#endif
