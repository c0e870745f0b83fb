/* The report as JSON, written as it is made, one element a line. */
#include "json.h"

#include "columns.h"
#include "store/judge.h"

struct writer {
    const struct merged *merged;
    FILE *out;
    struct buffer text;
    bool failed; /* out of memory */
};

static void flush(struct writer *writer)
{
    writer->failed |= writer->text.failed;
    buffer_flush(&writer->text, writer->out);
}

static void write_array(struct writer *writer, const char *name, enum record record, const void *records,
                        size_t count, size_t record_bytes)
{
    fprintf(writer->out, ",\n\"%s\":[", name);
    for (size_t i = 0; i < count && !writer->failed; i++) {
        buffer_puts(&writer->text, i ? ",\n " : "\n ");
        json_object(&writer->text, writer->merged, record, (const char *)records + i * record_bytes, false);
        flush(writer);
    }
    fputs("]", writer->out);
}

/* --- kernels ------------------------------------------------------------------------------------------- */

void json_lifts(struct buffer *text, const struct merged *merged,
                const struct merged_configuration *configuration)
{
    struct lift lifts[LIFTS_MAX];
    int count = judge_lifts(merged, configuration, lifts);
    const char *joint = "[";
    for (int i = 0; i < count; i++) {
        if (lifts[i].changes_count == 1 && lifts[i].helps) {
            buffer_puts(text, joint);
            buffer_puts(text, "{\"what\":\"");
            buffer_puts(text, lift_names[lifts[i].changes[0].what]);
            buffer_puts(text, "\",\"to\":");
            buffer_unsigned(text, (uint64_t)lifts[i].changes[0].to);
            buffer_puts(text, ",\"blocks_per_sm\":");
            buffer_unsigned(text, (uint64_t)lifts[i].blocks_per_sm);
            buffer_puts(text, "}");
            joint = ",";
        }
    }
    buffer_puts(text, *joint == '[' ? "[]" : "]");
}

static void append_shares(struct buffer *text, const struct merged *merged,
                          const struct merged_configuration *configuration)
{
    buffer_puts(text, "[");
    for (uint32_t i = 0; i < configuration->shares; i++) {
        buffer_puts(text, i ? "," : "");
        json_object(text, merged, RECORD_share, &merged->shares[configuration->first_share + i], false);
    }
    buffer_puts(text, "]");
}

static void write_configuration(struct writer *writer, const struct merged_configuration *configuration)
{
    struct buffer *text = &writer->text;
    json_object(text, writer->merged, RECORD_configuration, configuration, true);
    buffer_puts(text, ",\"lift\":");
    json_lifts(text, writer->merged, configuration);
    buffer_puts(text, ",\"by_process\":");
    append_shares(text, writer->merged, configuration);
    buffer_puts(text, "}");
}

static void write_configurations(struct writer *writer, const struct merged_kernel *kernel)
{
    buffer_puts(&writer->text, "[");
    for (uint32_t i = 0; i < kernel->configurations && !writer->failed; i++) {
        buffer_puts(&writer->text, i ? ",\n  " : "\n  ");
        write_configuration(writer, &writer->merged->configurations[kernel->first_configuration + i]);
        flush(writer);
    }
    buffer_puts(&writer->text, "]");
}

static void write_kernels(struct writer *writer, uint32_t count, bool in_columns)
{
    fputs(",\n\"kernels\":[", writer->out);
    for (uint32_t i = 0; i < count && !writer->failed; i++) {
        const struct merged_kernel *kernel = &writer->merged->kernels[i];
        buffer_puts(&writer->text, i ? ",\n " : "\n ");
        json_object(&writer->text, writer->merged, RECORD_kernel, kernel, true);
        buffer_puts(&writer->text, ",\"configurations\":");
        if (in_columns) {
            buffer_unsigned(&writer->text, kernel->configurations);
        } else {
            write_configurations(writer, kernel);
        }
        buffer_puts(&writer->text, "}");
        flush(writer);
    }
    fputs("]", writer->out);
}

/* --- findings ------------------------------------------------------------------------------------------ */

/* Findings about kernels that are not shown would point nowhere. */
static void write_findings(struct writer *writer, uint32_t kernels_shown)
{
    const struct merged *merged = writer->merged;
    const char *joint = "\n ";
    fputs(",\n\"findings\":[", writer->out);
    for (uint32_t i = 0; i < merged->findings_count && !writer->failed; i++) {
        const struct merged_finding *finding = &merged->findings[i];
        if (finding->kernel == MERGED_NONE || finding->kernel < kernels_shown) {
            buffer_puts(&writer->text, joint);
            json_object(&writer->text, merged, RECORD_finding, finding, false);
            flush(writer);
            joint = ",\n ";
        }
    }
    fputs("]", writer->out);
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static void write_run(struct writer *writer)
{
    const struct merged *merged = writer->merged;
    fputs("{\"schema\":\"warpwatch.report/1\"", writer->out);
    write_array(writer, "processes", RECORD_process, merged->processes, merged->processes_count,
                sizeof *merged->processes);
    write_array(writer, "hosts", RECORD_host, merged->hosts, merged->hosts_count, sizeof *merged->hosts);
    write_array(writer, "devices", RECORD_device, merged->devices, merged->devices_count,
                sizeof *merged->devices);
    buffer_puts(&writer->text, ",\n\"elsewhere\":");
    if (merged->elsewhere) {
        json_object(&writer->text, merged, RECORD_elsewhere_device, merged->elsewhere, false);
    } else {
        buffer_puts(&writer->text, "null");
    }
    buffer_puts(&writer->text, ",\n\"totals\":");
    json_object(&writer->text, merged, RECORD_totals, &merged->totals, false);
    flush(writer);
}

static bool write_report(const struct merged *merged, const struct view_options *options, FILE *out,
                         bool in_columns)
{
    struct writer writer = {.merged = merged, .out = out};
    uint32_t kernels = options->top < merged->kernels_count ? options->top : merged->kernels_count;
    write_run(&writer);
    write_kernels(&writer, kernels, in_columns);
    if (in_columns) {
        fputs(",\n\"columns\":", out);
        writer.failed |= !columns_write(merged, kernels, out);
    }
    write_findings(&writer, kernels);
    write_array(&writer, "odd_ranks", RECORD_odd_rank, merged->odd_ranks, merged->odd_ranks_count,
                sizeof *merged->odd_ranks);
    fputs("}\n", out);
    buffer_free(&writer.text);
    return !writer.failed;
}

bool view_json(const struct merged *merged, const struct view_options *options, FILE *out)
{
    return write_report(merged, options, out, false);
}

bool view_json_in_columns(const struct merged *merged, const struct view_options *options, FILE *out)
{
    return write_report(merged, options, out, true);
}
