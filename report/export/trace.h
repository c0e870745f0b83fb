/* The trace of one store: every launch that is still in it, thread by thread and in order. */
#ifndef WARPWATCH_EXPORT_TRACE_H
#define WARPWATCH_EXPORT_TRACE_H

#include "store/read.h"

enum trace_fact {
    FACT_KERNEL,
    FACT_GRID,
    FACT_BLOCK,
    FACT_CLUSTER,
    FACT_SHARED,
    FACT_DEVICE,
    FACT_KERNELS,
    FACT_RUNS,
    FACT_STREAM,
    FACT_LAUNCHES,
    TRACE_FACTS
};
extern const char *const trace_fact_names[TRACE_FACTS];

/* A fact about a launch: text, or where that is NULL a number. */
struct trace_argument {
    enum trace_fact fact;
    char *text;
    uint64_t number;
};

enum { TRACE_ARGUMENTS = 6 };

/* What a launch is called. */
struct trace_label {
    char *name;
    struct trace_argument arguments[TRACE_ARGUMENTS];
    uint32_t arguments_count;
};

/* One label for each configuration, graph body and kernel, in this order, then one for graphs without a body
 * and one for what is unreadable. */
struct trace_labels {
    struct trace_label *all;
    uint32_t configurations, bodies, kernels, count;
};

struct trace_thread {
    uint32_t id; /* of the thread, or of the shard where the thread is not known any more */
    bool known;
    uint64_t lost; /* launches before this thread's first one that newer ones took the place of */
};

struct trace_launch {
    uint64_t start_ns, duration_ns; /* since the epoch; launches of a thread do not overlap */
    uint32_t target;                /* STORE_TARGET */
    uint32_t label;                 /* index in labels */
    uint32_t stream;                /* index in streams */
};

struct trace {
    struct store_file file;
    uint32_t process;   /* number of the store among those exported, from 0 */
    uint32_t pid;       /* its own, or another if an earlier process has the same */
    char *process_name; /* "rank 0: python train.py (node1, pid 123)" */
    struct trace_labels labels;
    char **streams; /* what a stream is called, by its index in the store; the last is for unknown ones */
    uint32_t streams_count;
    struct store_records records, shards;
    uint64_t epoch_ns; /* CLOCK_REALTIME that times count from */
    uint64_t launches; /* that trace_walk handed out */
    uint64_t lost;     /* that the trace had no room for */
};

/* False: not a store, or out of memory; `reason` says why in a few words. */
bool trace_open(struct trace *trace, const char *path, char reason[STORE_REASON_BYTES]);
void trace_close(struct trace *trace);
/* Whether launches were kept at all. */
bool trace_is_kept(const struct trace *trace);

/* Called for each thread before its launches, maybe again when another thread's were in between. */
typedef void trace_thread_visitor(void *context, const struct trace_thread *thread, uint64_t first_ns);
typedef void trace_launch_visitor(void *context, const struct trace_launch *launch);
/* False: out of memory. */
bool trace_walk(struct trace *trace, trace_thread_visitor *thread, trace_launch_visitor *launch,
                void *context);

/* Private to this folder: reads what launches are called. False: out of memory. */
bool trace_labels_read(struct trace_labels *labels, struct store_file *file);
void trace_labels_free(struct trace_labels *labels);
uint32_t trace_label_of(const struct trace_labels *labels, uint32_t target);

#endif
