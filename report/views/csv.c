/* The report as CSV (RFC 4180): one row a configuration, the kernel's and the device's fields in front. What
 * a kernel launched beyond the limit of configurations is a row of its own with empty shape, so that launches
 * add up. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "csv_text.h"
#include "fields.h"
#include "names/visible.h"
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
} objects[] = {{"further", RECORD_further}, {"limits", RECORD_limits},
               {"gpu_ns", RECORD_gpu_ns},   {"measured_launches", RECORD_measured_launches},
               {"sources", RECORD_sources}, {"elsewhere", RECORD_elsewhere}};

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

static void append_text(struct buffer *row, const char *text)
{
    char *valid = valid_utf8(text);
    if (valid) {
        csv_field(row, valid);
    } else {
        row->failed = true;
    }
    free(valid);
}

static void append_names(struct buffer *row, const struct value *value)
{
    const char *joint = "";
    for (unsigned i = 0; i < value->set.count; i++) {
        if (value->set.bits >> i & 1) {
            buffer_puts(row, joint);
            buffer_puts(row, value->set.names[i]);
            joint = "+";
        }
    }
}

static void append_value(struct buffer *row, const struct value *value, int axis)
{
    switch (value->kind) {
    case VALUE_TEXT:
        append_text(row, value->text);
        break;
    case VALUE_UNSIGNED:
        buffer_unsigned(row, value->unsigned_number);
        break;
    case VALUE_SIGNED:
        buffer_signed(row, value->signed_number);
        break;
    case VALUE_NUMBER:
    case VALUE_FRACTION:
        buffer_number(row, value->number);
        break;
    case VALUE_BOOLEAN:
        buffer_puts(row, value->truth ? "true" : "false");
        break;
    case VALUE_NAMES:
        append_names(row, value);
        break;
    case VALUE_TRIPLE:
        buffer_unsigned(row, value->triple[axis]);
        break;
    case VALUE_OBJECT:
    case VALUE_NONE:
        break;
    }
}

/* --- rows ---------------------------------------------------------------------------------------------- */

/* What one row is about; NULL: its columns stay empty. */
struct row {
    const struct merged_device *device;
    const struct merged_configuration *configuration;
    bool launches_only; /* of the configuration nothing else is known */
};

static void append_cell(const struct merged *merged, const struct column *column, const void *record,
                        struct buffer *row)
{
    char text[FIELD_TEXT_BYTES];
    struct value value = column->field->get(merged, record, text);
    if (column->member && value.kind == VALUE_OBJECT) {
        value = column->member->get(merged, value.object.record, text);
    }
    append_value(row, &value, column->axis);
}

/* The kernel's columns come first and are the same in all its rows. */
static size_t append_kernel(const struct merged *merged, const struct columns *columns,
                            const struct merged_kernel *kernel, struct buffer *cells)
{
    size_t count = 0;
    for (; columns->list[count].record == RECORD_kernel; count++) {
        append_cell(merged, &columns->list[count], kernel, cells);
        buffer_char(cells, ',');
    }
    return count;
}

/* "process:launches:graph_launches", joined by ";". */
static void append_shares(const struct merged *merged, const struct merged_configuration *configuration,
                          struct buffer *row)
{
    for (uint32_t i = 0; i < configuration->shares; i++) {
        const struct merged_share *share = &merged->shares[configuration->first_share + i];
        buffer_puts(row, i ? ";" : "");
        buffer_unsigned(row, share->process);
        buffer_char(row, ':');
        buffer_unsigned(row, share->launches);
        buffer_char(row, ':');
        buffer_unsigned(row, share->graph_launches);
    }
}

static void append_row(const struct merged *merged, const struct columns *columns, size_t first,
                       const struct row *it, struct buffer *row)
{
    for (size_t i = first; i < columns->count; i++) {
        const struct column *column = &columns->list[i];
        bool of_device = column->record == RECORD_device;
        const void *record = of_device ? (const void *)it->device : it->configuration;
        if (record && (of_device || !it->launches_only || strstr(column->field->name, "launches"))) {
            append_cell(merged, column, record, row);
        }
        buffer_char(row, ',');
    }
    append_shares(merged, it->configuration, row);
    buffer_puts(row, "\r\n");
}

/* --- all of it ----------------------------------------------------------------------------------------- */

static bool write_kernel(const struct merged *merged, const struct columns *columns,
                         const struct merged_kernel *kernel, FILE *out)
{
    struct buffer same = {0}, row = {0};
    size_t first = append_kernel(merged, columns, kernel, &same);
    bool failed = same.failed;
    for (uint32_t i = 0; i < kernel->configurations && !failed; i++) {
        const struct merged_configuration *configuration =
            &merged->configurations[kernel->first_configuration + i];
        struct row it = {&merged->devices[configuration->device], configuration, false};
        buffer_append(&row, same.bytes, same.length);
        append_row(merged, columns, first, &it, &row);
        failed = row.failed;
        buffer_flush(&row, out);
    }
    if (kernel->further_launches > 0 && !failed) {
        const struct merged_configuration further = {.launches = kernel->further_launches,
                                                     .graph_launches = kernel->further_graph_launches,
                                                     .runtime_launches = kernel->further_runtime_launches};
        buffer_append(&row, same.bytes, same.length);
        append_row(merged, columns, first, &(struct row){NULL, &further, true}, &row);
        failed = row.failed;
        buffer_flush(&row, out);
    }
    buffer_free(&same);
    buffer_free(&row);
    return !failed;
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
