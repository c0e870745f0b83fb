/* CSV (RFC 4180): one line a kernel, lists joined by `+`, unknown is empty. */
#include <stdlib.h>

#include "fields.h"
#include "parts.h"
#include "report/names/demangle.h"
#include "rows.h"

static void print_blocks(FILE *stream, const struct scan_blocks *blocks)
{
    for (uint32_t i = 0; i < blocks->count; i++) {
        fprintf(stream, "%s%u", i ? "+" : "", blocks->threads[i]);
    }
}

static void print_value(FILE *stream, enum scan_kind kind, const struct scan_value *value)
{
    char limiters[LIMITERS_TEXT_BYTES];
    switch (kind) {
    case SCAN_TEXT:
        print_quoted(stream, value->text);
        break;
    case SCAN_NUMBER:
        fprintf(stream, "%u", value->number);
        break;
    case SCAN_FRACTION:
        fprintf(stream, "%.17g", value->fraction);
        break;
    case SCAN_TRIPLE:
        fprintf(stream, "%ux%ux%u", value->triple[0], value->triple[1], value->triple[2]);
        break;
    case SCAN_BLOCKS:
        print_blocks(stream, value->blocks);
        break;
    case SCAN_LIMITERS:
        limiters_text(value->limiters, limiters);
        fputs(limiters, stream);
        break;
    }
}

static bool is_shown(const struct scan_view *view, const struct scan_field *field)
{
    return !field->with_block || view->question->block;
}

static void csv_begin(struct scan_view *view)
{
    fputs("path", view->stream);
    for (size_t i = 0; i < scan_fields_count; i++) {
        if (is_shown(view, &scan_fields[i])) {
            fprintf(view->stream, ",%s", scan_fields[i].name);
        }
    }
    fputs("\n", view->stream);
}

static void print_kernel(FILE *stream, const struct scan_view *view, const struct scan_file *file,
                         size_t index)
{
    const struct scan_kernel *kernel = &file->kernels[index];
    struct scan_verdict verdict = scan_judge(kernel, view->question);
    char *name = demangle_full(kernel->mangled);
    struct scan_row row = {kernel, &verdict, name ? name : kernel->mangled, ""};
    scan_format_arch(kernel, row.arch);
    print_quoted(stream, file->path);
    for (size_t i = 0; i < scan_fields_count; i++) {
        struct scan_value value;
        if (!is_shown(view, &scan_fields[i])) {
            continue;
        }
        fputc(',', stream);
        scan_fields[i].get(&row, &value);
        if (value.known) {
            print_value(stream, scan_fields[i].kind, &value);
        }
    }
    fputs("\n", stream);
    free(name);
}

static void csv_file(struct scan_view *view, const struct scan_file *file)
{
    scan_rows_write(view, file, print_kernel);
}

static void csv_end(struct scan_view *view)
{
    (void)view;
}

const struct scan_format scan_format_csv = {"csv", csv_begin, csv_file, csv_end, compare_view_csv};
