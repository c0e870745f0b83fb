/* Chrome's trace event format: JSON, one event a line. Opens in ui.perfetto.dev and chrome://tracing.
 * Source: "Trace Event Format", the document that Chromium's tracing refers to. */
#include "formats.h"
#include "views/json_text.h"

static void begin(struct trace_writer *writer)
{
    buffer_puts(&writer->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static void key(struct buffer *text, const char *name)
{
    buffer_puts(text, ",\"");
    buffer_puts(text, name);
    buffer_puts(text, "\":");
}

static void string_field(struct buffer *text, const char *name, const char *value)
{
    key(text, name);
    json_string(text, value);
}

static void number_field(struct buffer *text, const char *name, uint64_t value)
{
    key(text, name);
    buffer_unsigned(text, value);
}

/* Microseconds, in full: a double would round nanoseconds away. */
static void time_field(struct buffer *text, const char *name, uint64_t ns)
{
    number_field(text, name, ns / 1000);
    char fraction[5] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10),
                        0};
    buffer_puts(text, fraction);
}

static void event(struct trace_writer *writer, const char *phase)
{
    buffer_puts(&writer->text, writer->begun ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    buffer_puts(&writer->text, phase);
    buffer_puts(&writer->text, "\"");
    number_field(&writer->text, "pid", writer->trace->pid);
    writer->begun = true;
}

static void metadata(struct trace_writer *writer, const char *what, const char *name)
{
    event(writer, "M");
    number_field(&writer->text, "tid", writer->thread);
    string_field(&writer->text, "name", what);
    buffer_puts(&writer->text, ",\"args\":{\"name\":");
    json_string(&writer->text, name);
    buffer_puts(&writer->text, "}}");
}

static bool process(struct trace_writer *writer)
{
    writer->thread = writer->trace->pid;
    metadata(writer, "process_name", writer->trace->process_name);
    event(writer, "M");
    number_field(&writer->text, "tid", writer->thread);
    buffer_puts(&writer->text, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":");
    buffer_unsigned(&writer->text, writer->trace->process);
    buffer_puts(&writer->text, "}}");
    return true;
}

static void thread(struct trace_writer *writer, const struct trace_thread *thread, uint64_t first_ns)
{
    char text[96];
    trace_thread_name(thread, text);
    metadata(writer, "thread_name", text);
    if (thread->lost) {
        trace_loss_text(thread, text);
        event(writer, "i");
        number_field(&writer->text, "tid", writer->thread);
        string_field(&writer->text, "cat", "loss");
        string_field(&writer->text, "name", text);
        time_field(&writer->text, "ts", first_ns);
        buffer_puts(&writer->text, ",\"s\":\"t\",\"args\":{\"launches\":");
        buffer_unsigned(&writer->text, thread->lost);
        buffer_puts(&writer->text, "}}");
    }
}

static void arguments(struct buffer *text, const struct trace_label *label)
{
    for (uint32_t i = 0; i < label->arguments_count; i++) {
        const struct trace_argument *argument = &label->arguments[i];
        if (argument->text) {
            string_field(text, trace_fact_names[argument->fact], argument->text);
        } else {
            number_field(text, trace_fact_names[argument->fact], argument->number);
        }
    }
}

static void launch(struct trace_writer *writer, const struct trace_launch *launch)
{
    const struct trace_label *label = &writer->trace->labels.all[launch->label];
    event(writer, "X");
    number_field(&writer->text, "tid", writer->thread);
    string_field(&writer->text, "cat", trace_category_names[trace_category_of(launch)]);
    string_field(&writer->text, "name", label->name);
    time_field(&writer->text, "ts", launch->start_ns);
    time_field(&writer->text, "dur", launch->duration_ns);
    buffer_puts(&writer->text, ",\"args\":{\"stream\":");
    json_string(&writer->text, writer->trace->streams[launch->stream]);
    arguments(&writer->text, label);
    buffer_puts(&writer->text, "}}");
}

static void end(struct trace_writer *writer)
{
    buffer_puts(&writer->text, "\n]}\n");
}

const struct trace_format trace_format_chrome = {
    .name = "chrome", .begin = begin, .process = process, .thread = thread, .launch = launch, .end = end};
