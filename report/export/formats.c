/* What all formats share: from a trace to calls of the format. */
#include "formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* PID_MAX_LIMIT of Linux, threads included. */
enum { NUMBERS_OF_LINUX = 1 << 22, FLUSH_BYTES = 1 << 16 };

const struct trace_format *trace_format_named(const char *name)
{
    static const struct trace_format *const formats[] = {&trace_format_chrome, &trace_format_perfetto};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

const char *const trace_category_names[TRACE_CATEGORIES] = {
    [TRACE_DRIVER] = "driver", [TRACE_RUNTIME] = "runtime", [TRACE_GRAPH] = "graph", [TRACE_LOSS] = "loss"};

enum trace_category trace_category_of(const struct trace_launch *launch)
{
    switch (STORE_TARGET_KIND(launch->target)) {
    case STORE_RUNTIME:
    case STORE_FURTHER_RUNTIME:
        return TRACE_RUNTIME;
    case STORE_REPLAY:
        return TRACE_GRAPH;
    default:
        return TRACE_DRIVER;
    }
}

/* One that is unknown gets a number beyond all that Linux gives. */
static uint32_t thread_number(const struct trace_thread *thread)
{
    return thread->known ? thread->id : NUMBERS_OF_LINUX + 1 + thread->id;
}

void trace_thread_name(const struct trace_thread *thread, char name[48])
{
    snprintf(name, 48, thread->known ? "thread %" PRIu32 : "an ended thread (shard %" PRIu32 ")", thread->id);
}

void trace_loss_text(const struct trace_thread *thread, char text[96])
{
    snprintf(text, 96, "%" PRIu64 " earlier launches are not in the trace: it had no more room",
             thread->lost);
}

void trace_writer_begin(struct trace_writer *writer, const struct trace_format *format, FILE *out)
{
    *writer = (struct trace_writer){.format = format, .out = out};
    format->begin(writer);
}

static void flush_when_full(struct trace_writer *writer, size_t least)
{
    if (writer->text.length > least) {
        buffer_flush(&writer->text, writer->out);
    }
}

static void write_thread(void *context, const struct trace_thread *thread, uint64_t first_ns)
{
    struct trace_writer *writer = context;
    writer->thread = thread_number(thread);
    writer->format->thread(writer, thread, first_ns);
}

static void write_launch(void *context, const struct trace_launch *launch)
{
    struct trace_writer *writer = context;
    writer->format->launch(writer, launch);
    flush_when_full(writer, FLUSH_BYTES);
}

bool trace_writer_process(struct trace_writer *writer, struct trace *trace)
{
    writer->trace = trace;
    return writer->format->process(writer) && trace_walk(trace, write_thread, write_launch, writer) &&
           !writer->text.failed;
}

bool trace_writer_end(struct trace_writer *writer)
{
    writer->format->end(writer);
    flush_when_full(writer, 0);
    bool held = !writer->text.failed;
    buffer_free(&writer->text);
    free(writer->named);
    return held;
}
