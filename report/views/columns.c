/* One column after the other: its values as text, each distinct one kept once. */
#include "columns.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "store/table.h"

struct place {
    size_t offset, length;
};

struct column {
    struct buffer texts; /* of the distinct values, back to back */
    struct place *distinct;
    uint32_t *at; /* by configuration: which distinct value it has */
    uint32_t distinct_count, count;
    struct table table;
};

typedef void column_writer(struct buffer *text, const struct merged *merged,
                           const struct merged_configuration *configuration);

static bool column_open(struct column *column, uint32_t count)
{
    *column = (struct column){.distinct = malloc(((size_t)count + 1) * sizeof *column->distinct),
                              .at = malloc(((size_t)count + 1) * sizeof *column->at)};
    table_open(&column->table);
    return column->distinct && column->at;
}

static void column_free(struct column *column)
{
    buffer_free(&column->texts);
    free(column->distinct);
    free(column->at);
    table_free(&column->table);
}

static bool text_equal(const void *context, uint32_t index, const void *key)
{
    const struct column *column = context;
    const struct place *known = &column->distinct[index], *fresh = key;
    return known->length == fresh->length && memcmp(column->texts.bytes + known->offset,
                                                    column->texts.bytes + fresh->offset, fresh->length) == 0;
}

/* Takes the text from `offset` on as the next configuration's value. */
static bool column_take(struct column *column, size_t offset)
{
    struct place fresh = {offset, column->texts.length - offset};
    if (column->texts.failed) {
        return false;
    }
    uint64_t hash = table_hash(&column->table, column->texts.bytes + offset, fresh.length);
    uint32_t index = table_intern(&column->table, hash, column->distinct_count, text_equal, column, &fresh);
    if (index == UINT32_MAX) {
        return false;
    }
    if (index == column->distinct_count) {
        column->distinct[column->distinct_count++] = fresh;
    } else {
        column->texts.length = offset;
    }
    column->at[column->count++] = index;
    return true;
}

/* --- writing ------------------------------------------------------------------------------------------- */

static void write_text(const struct column *column, uint32_t index, FILE *out)
{
    const struct place *place = &column->distinct[index];
    fwrite(column->texts.bytes + place->offset, 1, place->length, out);
}

static void write_each(const struct column *column, FILE *out)
{
    for (uint32_t i = 0; i < column->count; i++) {
        fputc(i ? ',' : '[', out);
        write_text(column, column->at[i], out);
    }
    fputs(column->count ? "]" : "[]", out);
}

static void write_distinct(const struct column *column, FILE *out)
{
    fputs("{\"values\":", out);
    for (uint32_t i = 0; i < column->distinct_count; i++) {
        fputc(i ? ',' : '[', out);
        write_text(column, i, out);
    }
    for (uint32_t i = 0; column->distinct_count > 1 && i < column->count; i++) {
        fprintf(out, i ? ",%u" : "],\"at\":[%u", column->at[i]);
    }
    fputs("]}", out);
}

static void column_write(const struct column *column, const char *name, FILE *out)
{
    fprintf(out, "\n \"%s\":", name);
    if (column->distinct_count > 0 && column->distinct_count <= column->count / 2) {
        write_distinct(column, out);
    } else {
        write_each(column, out);
    }
}

/* --- columns ------------------------------------------------------------------------------------------- */

struct rows {
    const struct merged *merged;
    uint32_t count; /* of configurations shown */
    FILE *out;
};

/* What each process launched of it: [process, launches, by graph, process, …]. */
static void append_shares(struct buffer *text, const struct merged *merged,
                          const struct merged_configuration *configuration)
{
    buffer_puts(text, "[");
    for (uint32_t i = 0; i < configuration->shares; i++) {
        const struct merged_share *share = &merged->shares[configuration->first_share + i];
        const uint64_t numbers[] = {share->process, share->launches, share->graph_launches};
        for (int j = 0; j < 3; j++) {
            buffer_puts(text, i + (uint32_t)j ? "," : "");
            buffer_unsigned(text, numbers[j]);
        }
    }
    buffer_puts(text, "]");
}

/* Of a field, or of what `write` makes. */
static bool write_column(const struct rows *rows, const struct field *field, column_writer *write)
{
    struct column column;
    bool held = column_open(&column, rows->count);
    for (uint32_t i = 0; held && i < rows->count; i++) {
        const struct merged_configuration *configuration = &rows->merged->configurations[i];
        size_t offset = column.texts.length;
        if (write) {
            write(&column.texts, rows->merged, configuration);
        } else {
            char room[FIELD_TEXT_BYTES];
            struct value value = field->get(rows->merged, configuration, room);
            json_value(&column.texts, rows->merged, &value);
        }
        held = column_take(&column, offset);
    }
    if (held) {
        column_write(&column, field->name, rows->out);
    }
    column_free(&column);
    return held;
}

/* After merged_select configurations lie in the order of their kernels. */
static uint32_t configurations_of(const struct merged *merged, uint32_t kernels)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernels; i++) {
        count += merged->kernels[i].configurations;
    }
    return count;
}

bool columns_write(const struct merged *merged, uint32_t kernels, FILE *out)
{
    static const struct field lift = {.name = "lift"}, shares = {.name = "by_process"};
    struct rows rows = {merged, configurations_of(merged, kernels), out};
    bool held = true;
    fputc('{', out);
    for (const struct field *field = fields_of(RECORD_configuration); held && field->name; field++) {
        held = write_column(&rows, field, NULL);
        fputc(',', out);
    }
    held = held && write_column(&rows, &lift, json_lifts);
    fputc(',', out);
    held = held && write_column(&rows, &shares, append_shares);
    fputs("}", out);
    return held;
}
