/* The report as JSON. Elements are built by cJSON one at a time and written as they are made, one a line, so
 * that memory does not grow with the report. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "fields.h"
#include "names/visible.h"
#include "number_text.h"
#include "store/judge.h"
#include "views.h"

struct writer {
    const struct merged *merged;
    FILE *out;
    bool failed; /* out of memory */
};

static cJSON *object_of(const struct merged *merged, enum record record, const void *it);

/* cJSON's numbers are doubles: 64-bit integers are written as they are. */
static cJSON *integer_of(const struct value *value)
{
    char digits[24];
    if (value->kind == VALUE_SIGNED) {
        snprintf(digits, sizeof digits, "%" PRId64, value->signed_number);
    } else {
        snprintf(digits, sizeof digits, "%" PRIu64, value->unsigned_number);
    }
    return cJSON_CreateRaw(digits);
}

/* cJSON rounds to 15 digits where that is close: fractions are written so that they read back the same. */
static cJSON *number_of(double number)
{
    char digits[NUMBER_TEXT_BYTES];
    number_text(number, digits);
    return cJSON_CreateRaw(digits);
}

static cJSON *text_of(const char *text)
{
    char *valid = valid_utf8(text);
    cJSON *string = valid ? cJSON_CreateString(valid) : NULL;
    free(valid);
    return string;
}

static cJSON *triple_of(const uint32_t triple[3])
{
    char text[48];
    snprintf(text, sizeof text, "[%u,%u,%u]", triple[0], triple[1], triple[2]);
    return cJSON_CreateRaw(text);
}

static cJSON *names_of(const struct value *value)
{
    cJSON *array = cJSON_CreateArray();
    for (unsigned i = 0; array && i < value->set.count; i++) {
        if (value->set.bits >> i & 1) {
            cJSON_AddItemToArray(array, cJSON_CreateStringReference(value->set.names[i]));
        }
    }
    return array;
}

static cJSON *value_of(const struct merged *merged, const struct value *value)
{
    switch (value->kind) {
    case VALUE_TEXT:
        return text_of(value->text);
    case VALUE_UNSIGNED:
    case VALUE_SIGNED:
        return integer_of(value);
    case VALUE_NUMBER:
    case VALUE_FRACTION:
        return number_of(value->number);
    case VALUE_BOOLEAN:
        return cJSON_CreateBool(value->truth);
    case VALUE_TRIPLE:
        return triple_of(value->triple);
    case VALUE_NAMES:
        return names_of(value);
    case VALUE_OBJECT:
        return object_of(merged, value->object.fields, value->object.record);
    case VALUE_NONE:
        break;
    }
    return cJSON_CreateNull();
}

/* NULL: out of memory. Names of fields are constants, so cJSON need not copy them. */
static cJSON *object_of(const struct merged *merged, enum record record, const void *it)
{
    char text[FIELD_TEXT_BYTES];
    cJSON *object = cJSON_CreateObject();
    for (const struct field *field = fields_of(record); object && field->name; field++) {
        struct value value = field->get(merged, it, text);
        cJSON *item = value_of(merged, &value);
        if (!item || !cJSON_AddItemToObjectCS(object, field->name, item)) {
            cJSON_Delete(item);
            cJSON_Delete(object);
            return NULL;
        }
    }
    return object;
}

/* Writes the object and gives it back to cJSON; `open`: without its closing brace, for what follows inside
 * it. */
static void write_object(struct writer *writer, cJSON *object, bool open)
{
    char *text = object ? cJSON_PrintUnformatted(object) : NULL;
    if (text) {
        fwrite(text, 1, strlen(text) - open, writer->out);
    } else {
        writer->failed = true;
    }
    cJSON_free(text);
    cJSON_Delete(object);
}

static void write_array(struct writer *writer, const char *name, enum record record, const void *records,
                        size_t count, size_t record_bytes)
{
    fprintf(writer->out, ",\n\"%s\":[", name);
    for (size_t i = 0; i < count && !writer->failed; i++) {
        fputs(i ? ",\n " : "\n ", writer->out);
        write_object(writer, object_of(writer->merged, record, (const char *)records + i * record_bytes),
                     false);
    }
    fputs("]", writer->out);
}

/* Single changes that let more warps reside on an SM. */
static void write_lifts(struct writer *writer, const struct merged_configuration *configuration)
{
    struct lift lifts[LIFTS_MAX];
    int count = judge_lifts(writer->merged, configuration, lifts);
    const char *joint = "";
    fputs(",\"lift\":[", writer->out);
    for (int i = 0; i < count; i++) {
        if (lifts[i].changes_count == 1 && lifts[i].helps) {
            fprintf(writer->out, "%s{\"what\":\"%s\",\"to\":%d,\"blocks_per_sm\":%d}", joint,
                    lift_names[lifts[i].changes[0].what], lifts[i].changes[0].to, lifts[i].blocks_per_sm);
            joint = ",";
        }
    }
}

static void write_shares(struct writer *writer, const struct merged_configuration *configuration)
{
    fputs("],\"by_process\":[", writer->out);
    for (uint32_t i = 0; i < configuration->shares && !writer->failed; i++) {
        const struct merged_share *share = &writer->merged->shares[configuration->first_share + i];
        fputs(i ? "," : "", writer->out);
        write_object(writer, object_of(writer->merged, RECORD_share, share), false);
    }
    fputs("]}", writer->out);
}

static void write_kernel(struct writer *writer, const struct merged_kernel *kernel)
{
    write_object(writer, object_of(writer->merged, RECORD_kernel, kernel), true);
    fputs(",\"configurations\":[", writer->out);
    for (uint32_t i = 0; i < kernel->configurations && !writer->failed; i++) {
        const struct merged_configuration *configuration =
            &writer->merged->configurations[kernel->first_configuration + i];
        fputs(i ? ",\n  " : "\n  ", writer->out);
        write_object(writer, object_of(writer->merged, RECORD_configuration, configuration), true);
        write_lifts(writer, configuration);
        write_shares(writer, configuration);
    }
    fputs("]}", writer->out);
}

static void write_kernels(struct writer *writer, uint32_t count)
{
    fputs(",\n\"kernels\":[", writer->out);
    for (uint32_t i = 0; i < count && !writer->failed; i++) {
        fputs(i ? ",\n " : "\n ", writer->out);
        write_kernel(writer, &writer->merged->kernels[i]);
    }
    fputs("]", writer->out);
}

/* Findings about kernels that are not shown would point nowhere. */
static void write_findings(struct writer *writer, uint32_t kernels_shown)
{
    const struct merged *merged = writer->merged;
    bool first = true;
    fputs(",\n\"findings\":[", writer->out);
    for (uint32_t i = 0; i < merged->findings_count && !writer->failed; i++) {
        const struct merged_finding *finding = &merged->findings[i];
        if (finding->kernel == MERGED_NONE || finding->kernel < kernels_shown) {
            fputs(first ? "\n " : ",\n ", writer->out);
            write_object(writer, object_of(merged, RECORD_finding, finding), false);
            first = false;
        }
    }
    fputs("]", writer->out);
}

bool view_json(const struct merged *merged, const struct view_options *options, FILE *out)
{
    struct writer writer = {.merged = merged, .out = out};
    uint32_t kernels = options->top < merged->kernels_count ? options->top : merged->kernels_count;
    fputs("{\"schema\":\"warpwatch.report/1\"", out);
    write_array(&writer, "processes", RECORD_process, merged->processes, merged->processes_count,
                sizeof *merged->processes);
    write_array(&writer, "hosts", RECORD_host, merged->hosts, merged->hosts_count, sizeof *merged->hosts);
    write_array(&writer, "devices", RECORD_device, merged->devices, merged->devices_count,
                sizeof *merged->devices);
    fputs(",\n\"elsewhere\":", out);
    if (merged->elsewhere) {
        write_object(&writer, object_of(merged, RECORD_elsewhere_device, merged->elsewhere), false);
    } else {
        fputs("null", out);
    }
    fputs(",\n\"totals\":", out);
    write_object(&writer, object_of(merged, RECORD_totals, &merged->totals), false);
    write_kernels(&writer, kernels);
    write_findings(&writer, kernels);
    write_array(&writer, "odd_ranks", RECORD_odd_rank, merged->odd_ranks, merged->odd_ranks_count,
                sizeof *merged->odd_ranks);
    fputs("}\n", out);
    return !writer.failed;
}
