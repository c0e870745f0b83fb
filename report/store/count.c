/* What a store counted: counters × graph bodies become launches of configurations. */
#include <stdlib.h>

#include "incoming.h"

static uint64_t call_ns(const struct incoming *in, uint64_t ticks)
{
    uint64_t per_second = in->file->header.ticks_per_second;
    if (per_second == 0) {
        return ticks;
    }
    unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u / per_second;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* A share to count into, or NULL where the configuration is unreadable. */
static struct merged_share *count_of(struct incoming *in, uint32_t configuration)
{
    bool readable =
        configuration < in->configurations.count && in->configurations_to[configuration] != MERGED_NONE;
    return readable ? &in->counts[configuration] : NULL;
}

static void add_launches(struct incoming *in, uint32_t configuration, uint64_t launches, bool graph,
                         bool runtime)
{
    struct merged_process *process = incoming_process(in);
    struct merged_share *count = count_of(in, configuration);
    if (!count) {
        in->unreadable = merge_sum(in->unreadable, launches);
        return;
    }
    count->launches = merge_sum(count->launches, launches);
    process->launches = merge_sum(process->launches, launches);
    if (graph) {
        count->graph_launches = merge_sum(count->graph_launches, launches);
        process->graph_launches = merge_sum(process->graph_launches, launches);
    }
    if (runtime) {
        count->runtime_launches = merge_sum(count->runtime_launches, launches);
        process->runtime_launches = merge_sum(process->runtime_launches, launches);
    }
}

static void add_further(struct incoming *in, uint32_t index, uint64_t launches, bool graph, bool runtime)
{
    struct merged_process *process = incoming_process(in);
    uint32_t merged = launches ? incoming_kernel(in, index) : MERGED_NONE;
    if (merged == MERGED_NONE) {
        in->unreadable = merge_sum(in->unreadable, launches);
        return;
    }
    struct merged_kernel *kernel = &in->merged->kernels[merged];
    kernel->further_launches = merge_sum(kernel->further_launches, launches);
    process->launches = merge_sum(process->launches, launches);
    uint64_t *apart = kernel->valid & STORE_KERNEL_FILTERED ? &process->filtered : &process->further;
    *apart = merge_sum(*apart, launches);
    if (graph) {
        kernel->further_graph_launches = merge_sum(kernel->further_graph_launches, launches);
        process->graph_launches = merge_sum(process->graph_launches, launches);
    }
    if (runtime) {
        kernel->further_runtime_launches = merge_sum(kernel->further_runtime_launches, launches);
        process->runtime_launches = merge_sum(process->runtime_launches, launches);
    }
}

static void add_replays(struct incoming *in, uint32_t body, uint64_t replays)
{
    if (body < in->bodies.count) {
        in->replays[body] = merge_sum(in->replays[body], replays);
    } else if (replays) {
        store_file_note(in->file, "the record of a graph is missing");
        in->unreadable = merge_sum(in->unreadable, replays);
    }
}

static void add_time(struct incoming *in, const struct store_counter *counter)
{
    uint32_t kind = STORE_TARGET_KIND(counter->target);
    struct merged_share *count =
        kind <= STORE_RUNTIME ? count_of(in, STORE_TARGET_INDEX(counter->target)) : NULL;
    uint64_t ns = call_ns(in, counter->launch_call_ns);
    incoming_process(in)->launch_call_ns = merge_sum(incoming_process(in)->launch_call_ns, ns);
    if (count) {
        count->launch_call_ns = merge_sum(count->launch_call_ns, ns);
    }
}

static void counter_in(struct incoming *in, const struct store_counter *counter)
{
    struct merged_process *process = incoming_process(in);
    uint32_t index = STORE_TARGET_INDEX(counter->target);
    uint64_t launches = counter->launches;
    switch (STORE_TARGET_KIND(counter->target)) {
    case STORE_DIRECT:
    case STORE_RUNTIME:
        add_launches(in, index, launches, false, STORE_TARGET_KIND(counter->target) == STORE_RUNTIME);
        break;
    case STORE_REPLAY:
        add_replays(in, index, launches);
        break;
    case STORE_GRAPH_DIRECT:
        add_launches(in, index, launches, true, false);
        break;
    case STORE_FURTHER_DIRECT:
    case STORE_FURTHER_RUNTIME:
    case STORE_FURTHER_GRAPH:
        add_further(in, index, launches, STORE_TARGET_KIND(counter->target) == STORE_FURTHER_GRAPH,
                    STORE_TARGET_KIND(counter->target) == STORE_FURTHER_RUNTIME);
        break;
    case STORE_UNCOUNTED:
        index = index < 3 ? index : 0;
        process->uncounted[index] = merge_sum(process->uncounted[index], launches);
        break;
    default:
        store_file_note(in->file, "a counter counts something unknown");
        in->unreadable = merge_sum(in->unreadable, launches);
    }
    add_time(in, counter);
}

static void counters_in(struct incoming *in)
{
    const struct store_counter *counters = in->counters.records;
    for (uint32_t i = 0; i < in->counters.count; i++) {
        if (counters[i].target != STORE_NO_TARGET) {
            counter_in(in, &counters[i]);
        }
    }
}

static bool body_readable(struct incoming *in, const struct store_body *body)
{
    return body->check == store_check(body, offsetof(struct store_body, check)) &&
           body->first_node <= in->nodes.count && body->nodes <= in->nodes.count - body->first_node;
}

/* By node: what changes there in the number of replays, and of those that run it beside other kernels. */
struct change {
    uint64_t replays, beside;
};

static void body_in(struct change *by_node, const struct store_body *body, uint64_t replays)
{
    uint32_t end = body->first_node + body->nodes;
    by_node[body->first_node].replays += replays;
    by_node[end].replays -= replays;
    if (body->order_check == store_order_check(body) && body->beside <= body->nodes) {
        by_node[end - body->beside].beside += replays;
        by_node[end].beside -= replays;
    }
}

static void node_in(struct incoming *in, const struct store_node *node, uint64_t replays, uint64_t beside)
{
    add_launches(in, node->configuration, merge_product(replays, node->times), true, false);
    if (count_of(in, node->configuration)) {
        uint32_t merged = in->configurations_to[node->configuration];
        uint64_t *beside_others = &in->merged->configurations[merged].beside_others;
        *beside_others = merge_sum(*beside_others, merge_product(beside, node->times));
    }
}

/* Replays of bodies become replays of nodes by adding where a run of nodes begins, taking away where it ends,
 * and summing along: linear even where bodies share nodes. Wraps modulo 2⁶⁴, which cancels out. */
static bool bodies_in(struct incoming *in)
{
    const struct store_body *bodies = in->bodies.records;
    struct change *by_node = calloc((size_t)in->nodes.count + 1, sizeof *by_node);
    if (!by_node) {
        return false;
    }
    for (uint32_t i = 0; i < in->bodies.count; i++) {
        if (!body_readable(in, &bodies[i])) {
            store_file_note(in->file, "the record of a graph is damaged");
            in->unreadable = merge_sum(in->unreadable, in->replays[i]);
            continue;
        }
        body_in(by_node, &bodies[i], in->replays[i]);
        for (int kind = 0; kind < 3; kind++) {
            uint64_t *uncounted = &incoming_process(in)->uncounted[kind];
            *uncounted = merge_sum(*uncounted, merge_product(in->replays[i], bodies[i].uncounted[kind]));
        }
    }
    const struct store_node *nodes = in->nodes.records;
    struct change now = {0, 0};
    for (uint32_t i = 0; i < in->nodes.count; i++) {
        now.replays += by_node[i].replays;
        now.beside += by_node[i].beside;
        node_in(in, &nodes[i], now.replays, now.beside);
    }
    free(by_node);
    return true;
}

/* The strongest claim of any thread stands; which configuration follows which is used for advice only. */
static void successors_in(struct incoming *in)
{
    const struct store_counter *counters = in->counters.records;
    for (uint32_t i = 0; i < in->counters.count; i++) {
        uint32_t kind = STORE_TARGET_KIND(counters[i].target), next = counters[i].successor;
        bool direct =
            kind <= STORE_RUNTIME && next != STORE_NO_TARGET && STORE_TARGET_KIND(next) <= STORE_RUNTIME;
        if (!direct || !count_of(in, STORE_TARGET_INDEX(counters[i].target)) ||
            !count_of(in, STORE_TARGET_INDEX(next))) {
            continue;
        }
        uint32_t self = in->configurations_to[STORE_TARGET_INDEX(counters[i].target)];
        uint32_t successor = in->configurations_to[STORE_TARGET_INDEX(next)];
        struct merged_configuration *configuration = &in->merged->configurations[self];
        if (configuration->successor == successor) {
            configuration->successor_votes =
                merge_sum(configuration->successor_votes, counters[i].successor_votes);
        } else if (configuration->successor == MERGED_NONE ||
                   counters[i].successor_votes > configuration->successor_votes) {
            configuration->successor = successor;
            configuration->successor_votes = counters[i].successor_votes;
        }
    }
}

static void shards_in(struct incoming *in)
{
    const struct store_shard *shards = in->shards.records;
    struct merged_process *process = incoming_process(in);
    for (uint32_t i = 0; i < in->shards.count; i++) {
        process->gaps = merge_sum(process->gaps, shards[i].gaps);
        process->gap_ns = merge_sum(process->gap_ns, call_ns(in, shards[i].gap_ns));
        process->measuring_ns = merge_sum(process->measuring_ns, call_ns(in, shards[i].measuring));
        process->threads = process->threads + 1 + shards[i].adoptions;
        for (int bucket = 0; bucket < 24; bucket++) {
            process->gap_histogram[bucket] =
                merge_sum(process->gap_histogram[bucket], shards[i].gap_histogram[bucket]);
        }
    }
}

/* A thread's launch calls and the gaps between them follow one another: its process lived at least as long,
 * also where it was killed before it gave another sign of that. */
static bool lifetime_in(struct incoming *in)
{
    const struct store_counter *counters = in->counters.records;
    const struct store_shard *shards = in->shards.records;
    struct merged_process *process = incoming_process(in);
    uint64_t *ticks = calloc((size_t)in->shards.count + 1, sizeof *ticks);
    for (uint32_t i = 0; ticks && i < in->shards.count; i++) {
        ticks[i] = shards[i].gap_ns;
    }
    for (uint32_t run = 0; ticks && run < in->counters.runs_count; run++) {
        const struct store_run *of = &in->counters.runs[run];
        for (uint32_t i = of->first; of->owner < in->shards.count && i < of->first + of->count; i++) {
            ticks[of->owner] = merge_sum(ticks[of->owner], counters[i].launch_call_ns);
        }
    }
    for (uint32_t i = 0; ticks && in->file->header_intact && i < in->shards.count; i++) {
        double seconds = (double)call_ns(in, ticks[i]) / 1e9;
        process->seconds = seconds > process->seconds ? seconds : process->seconds;
    }
    free(ticks);
    return ticks != NULL;
}

static void measurements_in(struct incoming *in)
{
    const struct store_measurement *measurements = in->measurements.records;
    for (uint32_t i = 0; i < in->measurements.count; i++) {
        uint32_t configuration = measurements[i].configuration;
        if (STORE_TARGET_KIND(configuration) == STORE_REPLAY) {
            merge_measurement(&in->merged->totals.graphs, &measurements[i]);
        } else if (count_of(in, configuration)) {
            uint32_t merged = in->configurations_to[configuration];
            merge_measurement(&in->merged->configurations[merged].measured, &measurements[i]);
        }
    }
}

static bool shares_in(struct incoming *in)
{
    for (uint32_t i = 0; i < in->configurations.count; i++) {
        struct merged_share *count = &in->counts[i];
        count->configuration = in->configurations_to[i];
        count->process = in->process;
        if (count->configuration != MERGED_NONE && !merge_share(in->merged, count)) {
            return false;
        }
    }
    return true;
}

bool incoming_count(struct incoming *in)
{
    counters_in(in);
    successors_in(in);
    shards_in(in);
    measurements_in(in);
    return lifetime_in(in) && bodies_in(in) && shares_in(in);
}
