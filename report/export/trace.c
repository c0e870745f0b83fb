/* Reads a trace. Rings are in file order from their oldest record on, so that each thread's launches come out
 * in order; times are ticks since the first launch began. */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/visible.h"

enum { SHARDS_LIMIT = 1 << 16 };

/* --- opening ------------------------------------------------------------------------------------------- */

static char *stream_name(uint64_t handle)
{
    char *name = NULL;
    if (handle == 1) {
        return strdup("default");
    }
    if (handle == 2) {
        return strdup("default of the thread");
    }
    return asprintf(&name, "%#" PRIx64, handle) < 0 ? NULL : name;
}

static bool streams_read(struct trace *trace)
{
    struct store_records records;
    if (!store_file_records(&trace->file, STORE_STREAMS, &records)) {
        return false;
    }
    const struct store_stream *streams = records.records;
    trace->streams = calloc((size_t)records.count + 1, sizeof *trace->streams);
    bool held = trace->streams != NULL;
    for (uint32_t i = 0; held && i < records.count; i++) {
        held = (trace->streams[i] = stream_name(streams[i].handle)) != NULL;
    }
    held = held && (trace->streams[records.count] = strdup("unknown")) != NULL;
    trace->streams_count = held ? records.count : 0;
    store_records_free(&records);
    return held;
}

/* Arguments as one line. The caller frees. */
static char *command_of(struct store_file *file)
{
    const struct store_string *string = &file->header.command;
    char *command = file->header_intact && string->bytes ? store_file_string(file, *string) : NULL;
    for (uint32_t i = 0; command && i + 1 < string->bytes; i++) {
        command[i] = command[i] ? command[i] : ' ';
    }
    char *shown = visible(command ? command : "unknown program");
    free(command);
    return shown;
}

static bool process_read(struct trace *trace)
{
    const struct store_header *header = &trace->file.header;
    char *command = command_of(&trace->file), *host = NULL, rank[24] = "";
    char raw[sizeof header->host + 1] = "unknown host";
    if (trace->file.header_intact) {
        memcpy(raw, header->host, sizeof header->host);
        raw[sizeof header->host] = '\0';
        trace->pid = header->pid;
    }
    if (trace->file.header_intact && header->rank >= 0) {
        snprintf(rank, sizeof rank, "rank %" PRId32 ": ", header->rank);
    }
    host = visible(raw);
    bool held =
        command && host &&
        asprintf(&trace->process_name, "%s%s (%s, pid %" PRIu32 ")", rank, command, host, trace->pid) >= 0;
    free(command);
    free(host);
    return held;
}

bool trace_open(struct trace *trace, const char *path, char reason[STORE_REASON_BYTES])
{
    *trace = (struct trace){.file.fd = -1};
    if (!store_file_open(&trace->file, path, reason)) {
        return false;
    }
    /* What refers before what is referred to: the file may be growing. */
    bool held = store_file_records(&trace->file, STORE_TRACE, &trace->records) &&
                store_file_records(&trace->file, STORE_SHARDS, &trace->shards) && streams_read(trace) &&
                trace_labels_read(&trace->labels, &trace->file) && process_read(trace);
    if (!held) {
        snprintf(reason, STORE_REASON_BYTES, "out of memory");
        trace_close(trace);
    }
    return held;
}

void trace_close(struct trace *trace)
{
    for (uint32_t i = 0; trace->streams && i <= trace->streams_count; i++) {
        free(trace->streams[i]);
    }
    free(trace->streams);
    free(trace->process_name);
    trace_labels_free(&trace->labels);
    store_records_free(&trace->records);
    store_records_free(&trace->shards);
    store_file_close(&trace->file);
}

bool trace_is_kept(const struct trace *trace)
{
    return trace->records.count > 0 || (trace->file.header.features & STORE_FEATURE_TRACE);
}

/* --- times --------------------------------------------------------------------------------------------- */

static uint64_t ns_of(const struct trace *trace, uint64_t units)
{
    uint64_t per_second = trace->file.header.ticks_per_second;
    unsigned __int128 ticks = (unsigned __int128)units * STORE_TRACE_TICKS;
    return (uint64_t)(per_second ? ticks * 1000000000u / per_second : ticks);
}

static uint64_t units_of(const struct store_trace *record)
{
    return record->when & ((1ull << STORE_TRACE_TIME_BITS) - 1);
}

/* --- in order ------------------------------------------------------------------------------------------ */

static bool is_launch(const struct store_trace *record)
{
    return record->when != 0 && record->target != STORE_NO_TARGET;
}

static bool is_thread(const struct store_trace *record)
{
    return record->when != 0 && record->target == STORE_NO_TARGET;
}

static int by_owner(const void *left, const void *right)
{
    const struct store_run *a = left, *b = right;
    int order = (a->owner > b->owner) - (a->owner < b->owner);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

/* Sorts the runs by shard; those that no shard can have are left out. How many remain. */
static uint32_t runs_in_order(struct trace *trace)
{
    struct store_run *runs = trace->records.runs;
    uint32_t count = trace->records.runs_count;
    if (count) {
        qsort(runs, count, sizeof *runs, by_owner);
    }
    while (count && runs[count - 1].owner >= SHARDS_LIMIT) {
        store_file_note(&trace->file, "trace records of a thread that cannot be");
        count--;
    }
    return count;
}

/* All records of runs that follow each other, as they lie in the file; NULL: out of memory. */
static struct store_trace *gather(const struct trace *trace, const struct store_run *runs,
                                  uint32_t runs_count, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < runs_count; i++) {
        *count += runs[i].count;
    }
    struct store_trace *records = malloc(((size_t)*count + 1) * sizeof *records), *end = records;
    for (uint32_t i = 0; records && i < runs_count; i++) {
        if (runs[i].count) {
            memcpy(end, (const struct store_trace *)trace->records.records + runs[i].first,
                   runs[i].count * sizeof *records);
            end += runs[i].count;
        }
    }
    return records;
}

/* Where a ring that went round begins: behind the one place where time goes back. */
static uint32_t oldest(const struct store_trace *records, uint32_t count)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_launch(&records[i])) {
            if (units_of(&records[i]) < before) {
                return i;
            }
            before = units_of(&records[i]);
        }
    }
    return 0;
}

struct walk {
    struct trace *trace;
    trace_thread_visitor *thread;
    trace_launch_visitor *launch;
    void *context;
    struct trace_thread current;
    uint64_t offset_ns, end_ns; /* of the process; of the thread's latest launch */
    bool introduced;            /* the thread was told about */
};

static void walk_launch(struct walk *walk, const struct store_trace *record)
{
    uint64_t start = walk->offset_ns + ns_of(walk->trace, units_of(record));
    uint64_t end = start + ns_of(walk->trace, record->duration);
    start = start > walk->end_ns ? start : walk->end_ns;
    walk->end_ns = end > start ? end : start;
    if (!walk->introduced) {
        walk->thread(walk->context, &walk->current, start);
        walk->introduced = true;
        walk->current.lost = 0;
    }
    uint32_t stream = (uint32_t)(record->when >> STORE_TRACE_TIME_BITS);
    struct trace_launch launch = {
        .start_ns = start,
        .duration_ns = walk->end_ns - start,
        .target = record->target,
        .label = trace_label_of(&walk->trace->labels, record->target),
        .stream = stream < walk->trace->streams_count ? stream : walk->trace->streams_count,
    };
    walk->launch(walk->context, &launch);
    walk->trace->launches++;
}

/* Until a record says which thread launches, it is the shard's only one, or one that has ended since. */
static bool walk_shard(struct walk *walk, uint32_t shard, const struct store_run *runs, uint32_t runs_count)
{
    static const struct store_shard unreadable;
    const struct store_shard *shards = walk->trace->shards.records;
    const struct store_shard *record = shard < walk->trace->shards.count ? &shards[shard] : &unreadable;
    bool only = record != &unreadable && record->adoptions == 0;
    uint32_t count;
    struct store_trace *records = gather(walk->trace, runs, runs_count, &count);
    if (!records) {
        return false;
    }
    walk->current = (struct trace_thread){only ? record->thread : shard, only, record->trace_lost};
    walk->introduced = false;
    walk->end_ns = 0;
    walk->trace->lost += record->trace_lost;
    for (uint32_t i = 0, first = oldest(records, count); i < count; i++) {
        const struct store_trace *next = &records[(first + i) % count];
        if (is_launch(next)) {
            walk_launch(walk, next);
        } else if (is_thread(next)) {
            walk->current = (struct trace_thread){next->duration, true, walk->current.lost};
            walk->introduced = false;
        }
    }
    free(records);
    return true;
}

bool trace_walk(struct trace *trace, trace_thread_visitor *thread, trace_launch_visitor *launch,
                void *context)
{
    uint64_t start_ns = trace->file.header_intact ? trace->file.header.start_realtime_ns : trace->epoch_ns;
    struct walk walk = {.trace = trace,
                        .thread = thread,
                        .launch = launch,
                        .context = context,
                        .offset_ns = start_ns > trace->epoch_ns ? start_ns - trace->epoch_ns : 0};
    struct store_run *runs = trace->records.runs;
    uint32_t runs_count = runs_in_order(trace);
    for (uint32_t shard = 0, i = 0; shard < trace->shards.count || i < runs_count; shard++) {
        shard = shard < trace->shards.count ? shard : runs[i].owner; /* of which nothing else is there */
        uint32_t first = i;
        while (i < runs_count && runs[i].owner == shard) {
            i++;
        }
        if (!walk_shard(&walk, shard, i > first ? &runs[first] : NULL, i - first)) {
            return false;
        }
    }
    return true;
}
