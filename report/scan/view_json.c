/* JSON, one kernel at a time: a library has more of them than fit a tree comfortably. */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "fields.h"
#include "report/names/demangle.h"
#include "report/names/visible.h"
#include "report/number_text.h"
#include "rows.h"

static cJSON *json_text(const char *text)
{
    char *valid = valid_utf8(text);
    cJSON *item = cJSON_CreateString(valid ? valid : "");
    free(valid);
    return item;
}

static cJSON *json_triple(const uint32_t *triple)
{
    double numbers[3] = {triple[0], triple[1], triple[2]};
    return cJSON_CreateDoubleArray(numbers, 3);
}

/* So that it reads back the same: cJSON rounds to 15 digits where that is close. */
static cJSON *json_fraction(double fraction)
{
    char digits[NUMBER_TEXT_BYTES];
    number_text(fraction, digits);
    return cJSON_CreateRaw(digits);
}

static cJSON *json_blocks(const struct scan_blocks *blocks)
{
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < blocks->count; i++) {
        cJSON_AddItemToArray(array, cJSON_CreateNumber(blocks->threads[i]));
    }
    return array;
}

static cJSON *json_limiters(unsigned limiters)
{
    cJSON *array = cJSON_CreateArray();
    for (unsigned i = 0; i < LIMITER_KINDS; i++) {
        if (limiters & 1u << i) {
            cJSON_AddItemToArray(array, cJSON_CreateString(limiter_names[i]));
        }
    }
    return array;
}

static cJSON *json_value(enum scan_kind kind, const struct scan_value *value)
{
    if (!value->known) {
        return cJSON_CreateNull();
    }
    switch (kind) {
    case SCAN_TEXT:
        return json_text(value->text);
    case SCAN_NUMBER:
        return cJSON_CreateNumber(value->number);
    case SCAN_FRACTION:
        return json_fraction(value->fraction);
    case SCAN_TRIPLE:
        return json_triple(value->triple);
    case SCAN_BLOCKS:
        return json_blocks(value->blocks);
    case SCAN_LIMITERS:
        return json_limiters(value->limiters);
    }
    return NULL;
}

static void print_item(FILE *stream, cJSON *item)
{
    char *text = cJSON_PrintUnformatted(item);
    fputs(text ? text : "null", stream);
    cJSON_free(text);
    cJSON_Delete(item);
}

static void print_kernel(FILE *stream, const struct scan_view *view, const struct scan_file *file,
                         size_t index)
{
    const struct scan_kernel *kernel = &file->kernels[index];
    struct scan_verdict verdict = scan_judge(kernel, view->question);
    char *name = demangle_full(kernel->mangled);
    struct scan_row row = {kernel, &verdict, name ? name : kernel->mangled, ""};
    scan_format_arch(kernel, row.arch);
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < scan_fields_count; i++) {
        const struct scan_field *field = &scan_fields[i];
        struct scan_value value;
        if (!field->with_block || view->question->block) {
            field->get(&row, &value);
            cJSON_AddItemToObject(object, field->name, json_value(field->kind, &value));
        }
    }
    fputs(index ? ",\n" : "\n", stream);
    print_item(stream, object);
    free(name);
}

static void print_undecodable(FILE *stream, const struct scan_file *file)
{
    fputs(",\"undecodable\":[", stream);
    for (size_t i = 0; i < file->undecodable_count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddNumberToObject(object, "offset", (double)file->undecodable[i].offset);
        cJSON_AddStringToObject(object, "reason", file->undecodable[i].reason);
        fputs(i ? "," : "", stream);
        print_item(stream, object);
    }
    fputs("]", stream);
}

static void print_counts(FILE *stream, const struct scan_counts *counts)
{
    fprintf(stream,
            ",\"containers\":%u,\"cubins\":%u,\"ptx\":%u,\"lto\":%u,\"ptx_only_containers\":%u,"
            "\"lto_only_containers\":%u,\"skipped_cubins\":%u",
            counts->containers, counts->cubins, counts->ptx, counts->lto, counts->ptx_only, counts->lto_only,
            counts->skipped);
}

static void json_begin(struct scan_view *view)
{
    fputs("{\"schema\":\"warpwatch.scan/1\",\"device\":", view->stream);
    print_item(view->stream, view->device ? json_text(view->device) : cJSON_CreateNull());
    fputs(",\"files\":[", view->stream);
}

static void json_file(struct scan_view *view, const struct scan_file *file)
{
    fputs(view->files ? ",\n{\"path\":" : "\n{\"path\":", view->stream);
    print_item(view->stream, json_text(file->path));
    print_counts(view->stream, &file->counts);
    print_undecodable(view->stream, file);
    fputs(",\"kernels\":[", view->stream);
    scan_rows_write(view, file, print_kernel);
    fputs("]}", view->stream);
}

static void json_end(struct scan_view *view)
{
    fputs("\n]}\n", view->stream);
}

const struct scan_format scan_format_json = {"json", json_begin, json_file, json_end, compare_view_json};
