/* Perfetto's trace packets. Field numbers are those of protos/perfetto/trace/ in the Perfetto project; a test
 * decodes the result with the published schema. Each process is a sequence of its own, in which names are
 * written once and then meant by number. */
#include "formats.h"

#include <stdlib.h>

#include "protobuf.h"

enum trace_fields { TRACE_PACKET = 1 };
enum packet_fields {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK = 60
};
enum sequence_flags { SEQUENCE_BEGINS = 1, SEQUENCE_NEEDS_NAMES = 2 };
enum track_fields { TRACK_UUID = 1, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum process_fields { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum thread_fields { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum event_fields {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_NUMBER = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23
};
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum annotation_fields { ANNOTATION_NAME = 1, ANNOTATION_NUMBER = 3, ANNOTATION_TEXT_NUMBER = 17 };
enum interned_fields {
    INTERNED_CATEGORIES = 1,
    INTERNED_EVENT_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_ANNOTATION_TEXTS = 29
};
enum name_fields { NAME_NUMBER = 1, NAME_TEXT = 2 };

/* --- names by number, from 1 --------------------------------------------------------------------------- */

static void intern(struct buffer *text, enum interned_fields field, uint64_t number, const char *name)
{
    size_t message = protobuf_open(text, field);
    protobuf_number(text, NAME_NUMBER, number);
    protobuf_string(text, NAME_TEXT, name);
    protobuf_close(text, message);
}

static uint64_t text_number(uint32_t label, uint32_t argument)
{
    return (uint64_t)label * TRACE_ARGUMENTS + argument + 1;
}

static uint64_t stream_number(const struct trace *trace, uint32_t stream)
{
    return text_number(trace->labels.count, 0) + stream;
}

static void intern_label(struct buffer *text, const struct trace *trace, uint32_t number)
{
    const struct trace_label *label = &trace->labels.all[number];
    intern(text, INTERNED_EVENT_NAMES, number + 1, label->name);
    for (uint32_t i = 0; i < label->arguments_count; i++) {
        if (label->arguments[i].text) {
            intern(text, INTERNED_ANNOTATION_TEXTS, text_number(number, i), label->arguments[i].text);
        }
    }
}

/* Names that this launch is the first to need. */
static void intern_new(struct trace_writer *writer, const struct trace_launch *launch)
{
    uint8_t *label = &writer->named[launch->label],
            *stream = &writer->named[writer->trace->labels.count + launch->stream];
    if (*label && *stream) {
        return;
    }
    size_t message = protobuf_open(&writer->text, PACKET_INTERNED);
    if (!*label) {
        intern_label(&writer->text, writer->trace, launch->label);
    }
    if (!*stream) {
        intern(&writer->text, INTERNED_ANNOTATION_TEXTS, stream_number(writer->trace, launch->stream),
               writer->trace->streams[launch->stream]);
    }
    *label = *stream = 1;
    protobuf_close(&writer->text, message);
}

static void intern_fixed(struct buffer *text)
{
    size_t message = protobuf_open(text, PACKET_INTERNED);
    for (uint32_t i = 0; i < TRACE_CATEGORIES; i++) {
        intern(text, INTERNED_CATEGORIES, i + 1, trace_category_names[i]);
    }
    for (uint32_t i = 0; i < TRACE_FACTS; i++) {
        intern(text, INTERNED_ANNOTATION_NAMES, i + 1, trace_fact_names[i]);
    }
    protobuf_close(text, message);
}

/* --- packets ------------------------------------------------------------------------------------------- */

static size_t packet_open(struct trace_writer *writer, enum sequence_flags flags)
{
    size_t packet = protobuf_open(&writer->text, TRACE_PACKET);
    protobuf_number(&writer->text, PACKET_SEQUENCE, writer->trace->process + 1);
    protobuf_number(&writer->text, PACKET_SEQUENCE_FLAGS, flags);
    return packet;
}

static uint64_t process_track(const struct trace_writer *writer)
{
    return (uint64_t)(writer->trace->process + 1) << 24;
}

static uint64_t thread_track(const struct trace_writer *writer)
{
    return process_track(writer) | writer->thread;
}

static void begin(struct trace_writer *writer)
{
    (void)writer;
}

static bool process(struct trace_writer *writer)
{
    struct buffer *text = &writer->text;
    const struct trace *trace = writer->trace;
    free(writer->named);
    writer->named = calloc((size_t)trace->labels.count + trace->streams_count + 1, 1);
    if (!writer->named) {
        return false;
    }
    size_t packet = packet_open(writer, SEQUENCE_BEGINS);
    intern_fixed(text);
    size_t track = protobuf_open(text, PACKET_TRACK);
    protobuf_number(text, TRACK_UUID, process_track(writer));
    size_t message = protobuf_open(text, TRACK_PROCESS);
    protobuf_number(text, PROCESS_PID, trace->pid);
    protobuf_string(text, PROCESS_NAME, trace->process_name);
    protobuf_close(text, message);
    protobuf_close(text, track);
    protobuf_close(text, packet);
    return true;
}

static void describe_thread(struct trace_writer *writer, const struct trace_thread *thread)
{
    struct buffer *text = &writer->text;
    char name[48];
    trace_thread_name(thread, name);
    size_t packet = packet_open(writer, SEQUENCE_NEEDS_NAMES);
    size_t track = protobuf_open(text, PACKET_TRACK);
    protobuf_number(text, TRACK_UUID, thread_track(writer));
    protobuf_number(text, TRACK_PARENT, process_track(writer));
    size_t message = protobuf_open(text, TRACK_THREAD);
    protobuf_number(text, THREAD_PID, writer->trace->pid);
    protobuf_number(text, THREAD_TID, writer->thread);
    protobuf_string(text, THREAD_NAME, name);
    protobuf_close(text, message);
    protobuf_close(text, track);
    protobuf_close(text, packet);
}

static size_t event_open(struct trace_writer *writer, enum event_type type)
{
    size_t event = protobuf_open(&writer->text, PACKET_EVENT);
    protobuf_number(&writer->text, EVENT_TYPE, type);
    protobuf_number(&writer->text, EVENT_TRACK, thread_track(writer));
    return event;
}

static void annotate(struct buffer *text, enum trace_fact fact, enum annotation_fields field, uint64_t value)
{
    size_t message = protobuf_open(text, EVENT_ANNOTATION);
    protobuf_number(text, ANNOTATION_NAME, fact + 1);
    protobuf_number(text, field, value);
    protobuf_close(text, message);
}

static void thread(struct trace_writer *writer, const struct trace_thread *thread, uint64_t first_ns)
{
    char loss[96];
    describe_thread(writer, thread);
    if (thread->lost == 0) {
        return;
    }
    trace_loss_text(thread, loss);
    size_t packet = packet_open(writer, SEQUENCE_NEEDS_NAMES);
    protobuf_number(&writer->text, PACKET_TIMESTAMP, first_ns);
    size_t event = event_open(writer, INSTANT);
    protobuf_number(&writer->text, EVENT_CATEGORY, TRACE_LOSS + 1);
    protobuf_string(&writer->text, EVENT_NAME, loss);
    annotate(&writer->text, FACT_LAUNCHES, ANNOTATION_NUMBER, thread->lost);
    protobuf_close(&writer->text, event);
    protobuf_close(&writer->text, packet);
}

static void slice_begin(struct trace_writer *writer, const struct trace_launch *launch)
{
    struct buffer *text = &writer->text;
    const struct trace_label *label = &writer->trace->labels.all[launch->label];
    size_t packet = packet_open(writer, SEQUENCE_NEEDS_NAMES);
    protobuf_number(text, PACKET_TIMESTAMP, launch->start_ns);
    intern_new(writer, launch);
    size_t event = event_open(writer, SLICE_BEGIN);
    protobuf_number(text, EVENT_CATEGORY, trace_category_of(launch) + 1);
    protobuf_number(text, EVENT_NAME_NUMBER, (uint64_t)launch->label + 1);
    annotate(text, FACT_STREAM, ANNOTATION_TEXT_NUMBER, stream_number(writer->trace, launch->stream));
    for (uint32_t i = 0; i < label->arguments_count; i++) {
        const struct trace_argument *argument = &label->arguments[i];
        annotate(text, argument->fact, argument->text ? ANNOTATION_TEXT_NUMBER : ANNOTATION_NUMBER,
                 argument->text ? text_number(launch->label, i) : argument->number);
    }
    protobuf_close(text, event);
    protobuf_close(text, packet);
}

static void launch(struct trace_writer *writer, const struct trace_launch *launch)
{
    slice_begin(writer, launch);
    size_t packet = packet_open(writer, SEQUENCE_NEEDS_NAMES);
    protobuf_number(&writer->text, PACKET_TIMESTAMP, launch->start_ns + launch->duration_ns);
    size_t event = event_open(writer, SLICE_END);
    protobuf_close(&writer->text, event);
    protobuf_close(&writer->text, packet);
}

static void end(struct trace_writer *writer)
{
    (void)writer;
}

const struct trace_format trace_format_perfetto = {
    .name = "perfetto", .begin = begin, .process = process, .thread = thread, .launch = launch, .end = end};
