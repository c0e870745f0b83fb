/* Fuzz target: whole files, from the host binary down, as `warpwatch scan` reads them, judges them on a
 * device or at a block size, and compares them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "report/scan/view.h"

static void show(const struct scan_format *format, struct scan_view *view, const struct scan_file *file)
{
    format->begin(view);
    format->file(view, file);
    format->end(view);
}

static void compare(FILE *sink, const struct scan_file *file, const struct scan_question *question)
{
    struct scan_comparison comparison;
    struct scan_file none = {0};
    if (scan_compare(&none, file, question, &comparison)) {
        struct compare_view view = {sink, "before", "after", &comparison, NULL, 0, 20};
        compare_view_text(&view);
        compare_view_json(&view);
        compare_view_csv(&view);
        scan_comparison_free(&comparison);
    }
}

static void present(FILE *sink, const struct scan_view *asked, const struct scan_file *file, unsigned choice)
{
    static const struct scan_format *const formats[] = {&scan_format_text, &scan_format_json,
                                                        &scan_format_csv};
    struct scan_view view = *asked;
    if (choice < 3) {
        show(formats[choice], &view, file);
    } else {
        compare(sink, file, view.question);
    }
}

/* The last byte also chooses what is asked and how it is shown. */
static void scan(const char *path, FILE *sink, uint8_t choice)
{
    int capability = choice & 1 ? 90 : choice & 2 ? 120 : 0;
    struct scan_options options = {.device_capability = capability, .sm = choice & 4 ? 80 : 0};
    struct scan_question question = {
        .block = choice & 8 ? 96 : 0, .dynamic_shared_bytes = choice, .device_capability = capability};
    struct scan_view view = {.stream = sink,
                             .options = &options,
                             .question = &question,
                             .top = 20,
                             .directory = choice & 64 ? "directory" : NULL};
    struct scan_file file;
    if (!scan_file_read(path, &options, &file)) {
        present(sink, &view, &file, choice >> 4 & 3);
    }
    scan_file_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    static FILE *nowhere;
    file = file >= 0 ? file : memfd_create("scanned", MFD_CLOEXEC);
    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    if (file < 0 || !nowhere || ftruncate(file, (off_t)size) ||
        pwrite(file, data, size, 0) != (ssize_t)size) {
        abort();
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    scan(path, nowhere, size ? data[size - 1] : 0);
    return 0;
}
