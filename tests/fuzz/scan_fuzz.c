/* Fuzz target: whole files, from the host binary down, as `warpwatch scan` reads them. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("scanned", MFD_CLOEXEC);
    FILE *sink = fopen("/dev/null", "w");
    if (fd < 0 || !sink || write(fd, data, size) != (ssize_t)size) {
        abort();
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct scan_options options = {0};
    struct scan_question question = {0};
    struct scan_view view = {.stream = sink, .options = &options, .question = &question, .top = 20};
    struct scan_file file;
    if (!scan_file_read(path, &options, &file)) {
        show(&scan_format_text, &view, &file);
        show(&scan_format_json, &view, &file);
        show(&scan_format_csv, &view, &file);
    }
    scan_file_free(&file);
    fclose(sink);
    close(fd);
    return 0;
}
