/* Scanned files as text, JSON and CSV. */
#ifndef WARPWATCH_SCAN_VIEW_H
#define WARPWATCH_SCAN_VIEW_H

#include <stdio.h>

#include "judge.h"
#include "small_files.h"
#include "view_compare.h"

struct scan_view {
    FILE *stream;
    const struct scan_options *options;
    const struct scan_question *question;
    const char *device;       /* name to show, NULL without --device */
    size_t top;               /* kernels in the text's list, SIZE_MAX: all */
    size_t readable;          /* files read so far */
    size_t files;             /* of these, written: files in directories without device code are not */
    const char *directory;    /* where the file at hand was found; NULL: it was named itself */
    struct small_files small; /* held back by the text until the directory ends */
    bool separated;           /* something stands above */
    bool prefaced;            /* the text has said what its figures mean */
};

/* One output: begin once, a call for each file, end once. */
struct scan_format {
    const char *name;
    void (*begin)(struct scan_view *view);
    void (*file)(struct scan_view *view, const struct scan_file *file);
    void (*end)(struct scan_view *view);
    void (*compare)(const struct compare_view *view); /* instead, of two files */
};
extern const struct scan_format scan_format_text, scan_format_json, scan_format_csv;

#endif
