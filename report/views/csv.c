/* The report as CSV (RFC 4180): one row a configuration, the kernel's and the device's fields in front. What
 * a kernel launched beyond the limit of configurations is a row of its own with empty shape, so that launches
 * add up. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "names/visible.h"
#include "number_text.h"
#include "views.h"

/* --- columns: the field table laid flat ----------------------------------------------------------------- */

struct column {
    enum record record; /* whose field it is: kernel, device or configuration */
    const struct field *field;
    const struct field *member; /* of the object that the field is, or NULL */
    int axis;                   /* of a triple, or -1 */
};

#define COLUMNS_MOST 160
struct columns {
    struct column list[COLUMNS_MOST];
    size_t count;
};

/* The fields of a device that a row repeats. */
static const char *const device_columns[] = {"name", "host", "compute_capability", "sms", "simulated"};

static const struct {
    const char *name;
    enum record record;
} objects[] = {{"further", RECORD_further},
               {"limits", RECORD_limits},
               {"gpu_ns", RECORD_gpu_ns},
               {"sources", RECORD_sources},
               {"elsewhere", RECORD_elsewhere}};

static void add_column(struct columns *columns, struct column column)
{
    if (columns->count < COLUMNS_MOST) {
        columns->list[columns->count++] = column;
    }
}

static bool add_members(struct columns *columns, enum record record, const struct field *field)
{
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        if (strcmp(objects[i].name, field->name) == 0) {
            for (const struct field *member = fields_of(objects[i].record); member->name; member++) {
                add_column(columns, (struct column){record, field, member, -1});
            }
            return true;
        }
    }
    return false;
}

static void add_field(struct columns *columns, enum record record, const struct field *field)
{
    bool triple =
        !strcmp(field->name, "grid") || !strcmp(field->name, "block") || !strcmp(field->name, "cluster");
    if (!triple && !add_members(columns, record, field)) {
        add_column(columns, (struct column){record, field, NULL, -1});
    }
    for (int axis = 0; triple && axis < 3; axis++) {
        add_column(columns, (struct column){record, field, NULL, axis});
    }
}

static void columns_lay(struct columns *columns)
{
    columns->count = 0;
    for (const struct field *field = fields_of(RECORD_kernel); field->name; field++) {
        add_field(columns, RECORD_kernel, field);
    }
    for (size_t i = 0; i < sizeof device_columns / sizeof *device_columns; i++) {
        add_field(columns, RECORD_device, field_named(RECORD_device, device_columns[i]));
    }
    for (const struct field *field = fields_of(RECORD_configuration); field->name; field++) {
        add_field(columns, RECORD_configuration, field);
    }
}

static void write_heading(const struct column *column, FILE *out)
{
    if (column->record == RECORD_device) {
        fputs("device_", out);
    }
    fputs(column->field->column, out);
    if (column->member) {
        fprintf(out, "_%s", column->member->column);
    } else if (column->axis >= 0) {
        fprintf(out, "_%c", "xyz"[column->axis]);
    }
}

/* --- values -------------------------------------------------------------------------------------------- */

static void write_quoted(const char *text, FILE *out)
{
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        fputs(*c == '"' ? "\"\"" : (const char[]){*c, '\0'}, out);
    }
    fputc('"', out);
}

/* False: out of memory. */
static bool write_text(const char *text, FILE *out)
{
    char *valid = valid_utf8(text);
    if (!valid) {
        return false;
    }
    if (valid[strcspn(valid, ",\"\r\n")] == '\0') {
        fputs(valid, out);
    } else {
        write_quoted(valid, out);
    }
    free(valid);
    return true;
}

static void write_names(const struct value *value, FILE *out)
{
    const char *joint = "";
    for (unsigned i = 0; i < value->set.count; i++) {
        if (value->set.bits >> i & 1) {
            fprintf(out, "%s%s", joint, value->set.names[i]);
            joint = "+";
        }
    }
}

static void write_number(double number, FILE *out)
{
    char digits[NUMBER_TEXT_BYTES];
    number_text(number, digits);
    fputs(digits, out);
}

static bool write_value(const struct value *value, int axis, FILE *out)
{
    switch (value->kind) {
    case VALUE_TEXT:
        return write_text(value->text, out);
    case VALUE_UNSIGNED:
        fprintf(out, "%" PRIu64, value->unsigned_number);
        break;
    case VALUE_SIGNED:
        fprintf(out, "%" PRId64, value->signed_number);
        break;
    case VALUE_NUMBER:
    case VALUE_FRACTION:
        write_number(value->number, out);
        break;
    case VALUE_BOOLEAN:
        fputs(value->truth ? "true" : "false", out);
        break;
    case VALUE_NAMES:
        write_names(value, out);
        break;
    case VALUE_TRIPLE:
        fprintf(out, "%u", value->triple[axis]);
        break;
    case VALUE_OBJECT:
    case VALUE_NONE:
        break;
    }
    return true;
}

/* What one row is about; NULL: its columns stay empty. */
struct row {
    const struct merged_kernel *kernel;
    const struct merged_device *device;
    const struct merged_configuration *configuration;
    bool launches_only; /* of the configuration nothing else is known */
};

static bool write_cell(const struct merged *merged, const struct column *column, const struct row *row,
                       FILE *out)
{
    char text[FIELD_TEXT_BYTES];
    const void *record = column->record == RECORD_kernel   ? (const void *)row->kernel
                         : column->record == RECORD_device ? (const void *)row->device
                                                           : (const void *)row->configuration;
    if (!record || (row->launches_only && column->record == RECORD_configuration &&
                    !strstr(column->field->name, "launches"))) {
        return true;
    }
    struct value value = column->field->get(merged, record, text);
    if (column->member && value.kind == VALUE_OBJECT) {
        value = column->member->get(merged, value.object.record, text);
    }
    return write_value(&value, column->axis, out);
}

/* "process:launches:graph_launches", joined by ";". */
static void write_shares(const struct merged *merged, const struct merged_configuration *configuration,
                         FILE *out)
{
    for (uint32_t i = 0; i < configuration->shares; i++) {
        const struct merged_share *share = &merged->shares[configuration->first_share + i];
        fprintf(out, "%s%u:%" PRIu64 ":%" PRIu64, i ? ";" : "", share->process, share->launches,
                share->graph_launches);
    }
}

static bool write_row(const struct merged *merged, const struct columns *columns, const struct row *row,
                      FILE *out)
{
    bool held = true;
    for (size_t i = 0; i < columns->count; i++) {
        held = write_cell(merged, &columns->list[i], row, out) && held;
        fputc(',', out);
    }
    write_shares(merged, row->configuration, out);
    fputs("\r\n", out);
    return held;
}

/* --- all of it ----------------------------------------------------------------------------------------- */

static bool write_kernel(const struct merged *merged, const struct columns *columns,
                         const struct merged_kernel *kernel, FILE *out)
{
    bool held = true;
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        const struct merged_configuration *configuration =
            &merged->configurations[kernel->first_configuration + i];
        struct row row = {kernel, &merged->devices[configuration->device], configuration, false};
        held = write_row(merged, columns, &row, out) && held;
    }
    if (kernel->further_launches > 0) {
        const struct merged_configuration further = {.launches = kernel->further_launches,
                                                     .graph_launches = kernel->further_graph_launches,
                                                     .runtime_launches = kernel->further_runtime_launches};
        held = write_row(merged, columns, &(struct row){kernel, NULL, &further, true}, out) && held;
    }
    return held;
}

bool view_csv(const struct merged *merged, const struct view_options *options, FILE *out)
{
    struct columns columns;
    bool held = true;
    columns_lay(&columns);
    for (size_t i = 0; i < columns.count; i++) {
        write_heading(&columns.list[i], out);
        fputc(',', out);
    }
    fputs("by_process\r\n", out);
    for (uint32_t i = 0; i < merged->kernels_count && i < options->top && held; i++) {
        held = write_kernel(merged, &columns, &merged->kernels[i], out);
    }
    return held;
}
