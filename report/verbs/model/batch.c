/* `warpwatch model NAME --batch`: a table in, the same table with the answers out. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "csv_text.h"
#include "verbs/model/csv.h"
#include "verbs/model/model.h"

enum { WRITTEN_AT_ONCE_BYTES = 1 << 17 };

struct batch {
    const struct model *model;
    const struct argument *defaults;
    struct csv_reader reader;
    struct buffer lines;         /* not written yet */
    int columns[CSV_FIELDS_MAX]; /* parameters, in the order of the input's columns */
    size_t columns_count;
    struct argument arguments[MODEL_PARAMETERS_MAX];
    struct answer answer;
    FILE *output;
};

static int find_parameter(const struct model *model, const char *name)
{
    for (int i = 0; i < model->parameters_count; i++) {
        if (strcmp(model->parameters[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* An unknown column is refused: it may be a misspelt one that would count as 0 without a word. */
static bool complain_about_column(const struct model *model, const char *name, bool twice)
{
    char names[512];
    size_t used = 0;
    for (int i = 0; i < model->parameters_count && used < sizeof names; i++) {
        int length =
            snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", model->parameters[i].name);
        used += length > 0 ? (size_t)length : 0;
    }
    if (twice) {
        cli_complain("--batch column '%s': named twice", name);
    } else {
        cli_complain("--batch column '%s': no such column; there are %s", name, names);
    }
    return false;
}

/* One of several: the last of a row is the problem, if there is one. */
static void add_field(struct buffer *lines, const char *text)
{
    csv_field(lines, text);
    buffer_char(lines, ',');
}

static bool read_header(struct batch *batch)
{
    bool seen[MODEL_PARAMETERS_MAX] = {false};
    enum csv_status status = csv_read(&batch->reader);
    if (status != CSV_RECORD) {
        cli_complain("--batch: %s; the first line names the columns",
                     status == CSV_END ? "the input is empty" : batch->reader.fault);
        return false;
    }
    for (size_t i = 0; i < batch->reader.count; i++) {
        const char *name = batch->reader.fields[i];
        int parameter = find_parameter(batch->model, name);
        if (parameter < 0 || seen[parameter]) {
            return complain_about_column(batch->model, name, parameter >= 0);
        }
        seen[parameter] = true;
        batch->columns[i] = parameter;
        add_field(&batch->lines, name);
    }
    batch->columns_count = batch->reader.count;
    for (const char *const *column = batch->model->csv_columns; *column; column++) {
        add_field(&batch->lines, *column);
    }
    csv_field(&batch->lines, "error");
    buffer_char(&batch->lines, '\n');
    return true;
}

/* Fills `arguments` from the row; what is empty keeps its default. */
static bool read_row(struct batch *batch)
{
    const struct model *model = batch->model;
    memcpy(batch->arguments, batch->defaults, sizeof *batch->defaults * (size_t)model->parameters_count);
    answer_clear(&batch->answer);
    if (batch->reader.count != batch->columns_count || batch->reader.cut) {
        answer_refuse(&batch->answer, model->parameters_count, "%zu fields%s where the header names %zu",
                      batch->reader.count, batch->reader.cut ? " and a NUL byte" : "", batch->columns_count);
        return false;
    }
    for (size_t i = 0; i < batch->columns_count; i++) {
        const struct parameter *parameter = &model->parameters[batch->columns[i]];
        const char *text = batch->reader.fields[i];
        if (*text && !parameter_read(parameter, text, &batch->arguments[batch->columns[i]])) {
            char accepts[PARAMETER_ACCEPTS_BYTES];
            parameter_accepts(parameter, accepts, sizeof accepts);
            answer_refuse(&batch->answer, batch->columns[i], " '%.40s': give %s", text, accepts);
            return false;
        }
    }
    return true;
}

static void add_problem(struct batch *batch)
{
    char text[PARAMETER_OPTION_BYTES + ANSWER_PROBLEM_BYTES];
    int parameter = batch->answer.faulty_parameter;
    bool about_row = parameter == batch->model->parameters_count;
    snprintf(text, sizeof text, "%s%s", about_row ? "" : batch->model->parameters[parameter].name,
             batch->answer.problem);
    csv_field(&batch->lines, text);
}

static void write_row(struct batch *batch, bool makes_sense)
{
    struct buffer *lines = &batch->lines;
    for (size_t i = 0; i < batch->columns_count; i++) {
        add_field(lines, i < batch->reader.count ? batch->reader.fields[i] : "");
    }
    int value = 0;
    for (const char *const *column = batch->model->csv_columns; *column; column++, value++) {
        if (makes_sense) {
            answer_csv_value(&batch->answer.values[value], lines);
        }
        buffer_char(lines, ',');
    }
    if (!makes_sense) {
        add_problem(batch);
    }
    buffer_char(lines, '\n');
}

/* Writes the lines put together so far once there are `enough` bytes of them. */
static bool flush_lines(struct batch *batch, size_t enough)
{
    if (batch->lines.length >= enough) {
        buffer_flush(&batch->lines, batch->output);
    }
    return !batch->lines.failed && !ferror(batch->output);
}

static int run(struct batch *batch)
{
    if (!read_header(batch)) {
        return EXIT_USAGE;
    }
    bool written = true;
    enum csv_status status = CSV_END;
    while (written && (status = csv_read(&batch->reader)) == CSV_RECORD) {
        bool makes_sense = read_row(batch);
        if (makes_sense) {
            batch->model->answer(batch->arguments, &batch->answer);
            makes_sense = batch->answer.faulty_parameter < 0;
        }
        write_row(batch, makes_sense);
        written = flush_lines(batch, WRITTEN_AT_ONCE_BYTES);
    }
    flush_lines(batch, 0);
    if (status == CSV_FAULT) {
        cli_complain("--batch line %llu: %s", (unsigned long long)batch->reader.line, batch->reader.fault);
        return EXIT_UNREADABLE;
    }
    return EXIT_OK; /* a failed write is reported when the output is closed */
}

int model_batch(const struct model *model, const struct argument *defaults, FILE *input, FILE *output)
{
    struct batch *batch = calloc(1, sizeof *batch);
    if (!batch || !csv_open(&batch->reader, input)) {
        cli_complain("--batch: out of memory");
        free(batch);
        return EXIT_UNREADABLE;
    }
    batch->model = model;
    batch->defaults = defaults;
    batch->output = output;
    int status = run(batch);
    if (batch->lines.failed) {
        cli_complain("--batch: out of memory");
        status = EXIT_UNREADABLE;
    }
    csv_close(&batch->reader);
    buffer_free(&batch->lines);
    free(batch);
    return status;
}
