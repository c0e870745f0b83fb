/* The formats that a trace can be written in. A format is told of processes, threads and launches, in this
 * order, and writes as it is told. */
#ifndef WARPWATCH_EXPORT_FORMATS_H
#define WARPWATCH_EXPORT_FORMATS_H

#include "buffer.h"
#include "trace.h"

enum trace_category { TRACE_DRIVER, TRACE_RUNTIME, TRACE_GRAPH, TRACE_LOSS, TRACE_CATEGORIES };
extern const char *const trace_category_names[TRACE_CATEGORIES];

struct trace_writer {
    const struct trace_format *format;
    FILE *out;
    struct buffer text;        /* flushed now and then */
    const struct trace *trace; /* the process that is being written */
    uint32_t thread;           /* what the format calls the current thread */
    bool begun;                /* something was written that the next thing must be set apart from */
    uint8_t *named;            /* perfetto: labels and streams whose names were written for this process */
};

struct trace_format {
    const char *name;
    void (*begin)(struct trace_writer *writer);
    bool (*process)(struct trace_writer *writer); /* false: out of memory */
    void (*thread)(struct trace_writer *writer, const struct trace_thread *thread, uint64_t first_ns);
    void (*launch)(struct trace_writer *writer, const struct trace_launch *launch);
    void (*end)(struct trace_writer *writer);
};
extern const struct trace_format trace_format_chrome, trace_format_perfetto;

/* NULL: there is none of that name. */
const struct trace_format *trace_format_named(const char *name);

void trace_writer_begin(struct trace_writer *writer, const struct trace_format *format, FILE *out);
/* False: out of memory. */
bool trace_writer_process(struct trace_writer *writer, struct trace *trace);
bool trace_writer_end(struct trace_writer *writer);

enum trace_category trace_category_of(const struct trace_launch *launch);

/* For formats. */
void trace_thread_name(const struct trace_thread *thread, char name[48]);
void trace_loss_text(const struct trace_thread *thread, char text[96]);

#endif
