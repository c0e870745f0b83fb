/* The table of executable graphs. The driver leaves it to the program not to use a graph in two threads at
 * once, so an entry found under the lock stays as it is while its hook is under way. */
#include "graph_exec.h"

#include <string.h>

#include "bodies.h"
#include "graph_order.h"
#include "index.h"
#include "keys.h"
#include "pool.h"
#include "recorder_state.h"
#include "resolve.h"

enum order { ORDER_NOT_LOOKED_AT, ORDER_KNOWN, ORDER_UNKNOWN };

struct graph_exec {
    CUgraphExec exec;
    struct graph_nodes nodes;
    uint32_t key;  /* launch keys that end with the next change */
    uint8_t order; /* enum order: whether `beside` of its nodes holds */
    bool for_device;
};

static struct pool execs = {.item_bytes = sizeof(struct graph_exec)};

static struct graph_exec *exec_at(uint32_t number)
{
    return pool_item(&execs, number);
}

static uint32_t hash_exec(uint32_t number)
{
    return index_hash_address(exec_at(number)->exec);
}

static bool same_exec(uint32_t number, const void *exec)
{
    return exec_at(number)->exec == exec;
}

static struct index exec_index = {.hash_of = hash_exec, .equal = same_exec};

static struct graph_exec *find_locked(CUgraphExec exec)
{
    uint32_t number = index_find(&exec_index, index_hash_address(exec), exec);
    return number == INDEX_NONE ? NULL : exec_at(number);
}

static struct graph_exec *find(CUgraphExec exec)
{
    recorder_lock_take();
    struct graph_exec *entry = find_locked(exec);
    recorder_lock_give();
    return entry;
}

/* From now on the next replay is looked at anew. */
static void changed_locked(struct graph_exec *entry)
{
    keys_end(&recorder.keys, entry->key);
    entry->key = 0;
}

static void changed(struct graph_exec *entry)
{
    recorder_lock_take();
    changed_locked(entry);
    recorder_lock_give();
}

static uint32_t take_out_locked(CUgraphExec exec)
{
    uint32_t number = index_find(&exec_index, index_hash_address(exec), exec);
    if (number == INDEX_NONE) {
        return 0;
    }
    changed_locked(exec_at(number));
    index_remove(&exec_index, index_hash_address(exec), number);
    return number;
}

static void release_locked(uint32_t number)
{
    if (number) {
        graph_nodes_release(&exec_at(number)->nodes);
        pool_give(&execs, number);
    }
}

void graph_exec_instantiated(CUgraphExec exec, CUgraph graph, uint64_t flags)
{
    struct graph_exec fresh = {.exec = exec, .for_device = flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
    graph_nodes_read(graph, true, &fresh.nodes);
    recorder_lock_take();
    release_locked(take_out_locked(exec)); /* destroyed unseen, its address used again */
    uint32_t number = pool_take(&execs);
    if (number) {
        *exec_at(number) = fresh;
        index_insert(&exec_index, index_hash_address(exec), number);
    } else {
        graph_nodes_release(&fresh.nodes);
    }
    recorder_lock_give();
}

uint32_t graph_exec_ending(CUgraphExec exec)
{
    recorder_lock_take();
    uint32_t number = take_out_locked(exec);
    recorder_lock_give();
    return number;
}

void graph_exec_ended(uint32_t ending, bool really)
{
    recorder_lock_take();
    if (really) {
        release_locked(ending);
    } else if (ending) {
        index_insert(&exec_index, hash_exec(ending), ending);
    }
    recorder_lock_give();
}

static struct graph_node *find_node(const struct graph_exec *entry, CUgraphNode node)
{
    for (uint32_t i = 0; i < entry->nodes.count; i++) {
        if (entry->nodes.list[i].node == node) {
            return &entry->nodes.list[i];
        }
    }
    return NULL;
}

void graph_exec_set_kernel(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
    struct graph_exec *entry = find(exec);
    struct graph_node *place = entry ? find_node(entry, node) : NULL;
    if (place) {
        graph_node_set_kernel(place, parameters);
        changed(entry);
    } else if (entry) {
        entry->nodes.incomplete = true;
        changed(entry);
    }
}

static uint32_t descendants(const struct graph_exec *entry, uint32_t number)
{
    uint32_t end = number;
    while (end < entry->nodes.count && entry->nodes.list[end].parent >= number) {
        end++;
    }
    return end - number;
}

void graph_exec_set_child(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    struct graph_exec *entry = find(exec);
    struct graph_node *place = entry ? find_node(entry, node) : NULL;
    if (place == NULL) {
        return;
    }
    struct graph_nodes replacement = {0};
    graph_nodes_read(child, false, &replacement); /* edges stay as they are, or the driver refuses */
    uint32_t number = (uint32_t)(place - entry->nodes.list) + 1;
    if (!graph_nodes_match(place + 1, descendants(entry, number), &replacement)) {
        entry->nodes.incomplete = true;
    }
    graph_nodes_release(&replacement);
    changed(entry);
}

void graph_exec_set_enabled(CUgraphExec exec, CUgraphNode node, bool enabled)
{
    struct graph_exec *entry = find(exec);
    struct graph_node *place = entry ? find_node(entry, node) : NULL;
    if (place) {
        place->disabled = !enabled;
        entry->order = ORDER_NOT_LOOKED_AT;
        changed(entry);
    }
}

/* The driver pairs the nodes of both graphs by the order in which they were added. */
void graph_exec_updated(CUgraphExec exec, CUgraph graph)
{
    struct graph_exec *entry = find(exec);
    if (entry == NULL) {
        return;
    }
    struct graph_nodes replacement = {0};
    graph_nodes_read(graph, false, &replacement);
    if (!graph_nodes_match(entry->nodes.list, entry->nodes.count, &replacement)) {
        entry->nodes.incomplete = true;
    }
    graph_nodes_release(&replacement);
    changed(entry);
}

bool graph_exec_is_for_device(CUgraphExec exec)
{
    struct graph_exec *entry = find(exec);
    return entry && entry->for_device;
}

bool graph_exec_is_without_kernels(CUgraphExec exec)
{
    struct graph_exec *entry = find(exec);
    return entry && !entry->nodes.incomplete && !entry->nodes.launches && !entry->for_device;
}

static void forget_configurations(struct graph_exec *entry)
{
    changed_locked(entry);
    for (uint32_t i = 0; i < entry->nodes.count; i++) {
        entry->nodes.list[i].configuration = STORE_NO_TARGET;
    }
}

void graph_exec_forget_all(void)
{
    for (uint32_t number = 1; number <= execs.made; number++) {
        if (find_locked(exec_at(number)->exec) == exec_at(number)) {
            forget_configurations(exec_at(number));
        }
    }
}

void graph_exec_forget_bodies(void)
{
    graph_exec_forget_all();
    bodies_close();
}

static bool find_order(struct graph_exec *entry)
{
    if (entry->order == ORDER_NOT_LOOKED_AT) {
        entry->order = graph_order_find(&entry->nodes) ? ORDER_KNOWN : ORDER_UNKNOWN;
    }
    return entry->order == ORDER_KNOWN;
}

/* Finds out what the nodes run, and sums it up. False: what was found may not be kept. */
static bool sum_up(struct graph_exec *entry, CUstream stream, struct body_sum *sum)
{
    bool keep = true;
    sum->order_known = find_order(entry);
    for (uint32_t i = 0; i < entry->nodes.count; i++) {
        struct graph_node *node = &entry->nodes.list[i];
        if (!graph_node_launches(node) || !graph_node_runs(&entry->nodes, i)) {
            continue;
        }
        if (node->kind != GRAPH_NODE_KERNEL) {
            sum->uncounted[node->kind == GRAPH_NODE_CONDITIONAL ? STORE_UNCOUNTED_CONDITIONAL
                                                                : STORE_UNCOUNTED_DEVICE_UPDATABLE]++;
            continue;
        }
        struct resolved resolved = {.configuration = node->configuration, .kernel = node->kernel};
        if (node->configuration == STORE_NO_TARGET) {
            struct launch launch;
            launch_unpack(&node->words, stream, &launch);
            launch.flags |= node->programmatic ? LAUNCH_PDL : 0;
            resolved = resolve_configuration(&launch, (CUcontext)(uintptr_t)node->words.place);
            node->configuration = resolved.provisional ? STORE_NO_TARGET : resolved.configuration;
            node->kernel = resolved.kernel;
            keep = keep && !resolved.provisional;
        }
        body_sum_add(sum, &resolved, node->beside);
    }
    sum->uncounted[STORE_UNCOUNTED_DEVICE_GRAPH] = entry->for_device;
    return keep;
}

static void add_key(struct graph_exec *entry, const struct launch_words *words, uint32_t target)
{
    recorder_lock_take();
    uint32_t key = keys_insert(&recorder.keys, words, target, entry->key);
    entry->key = key ? key : entry->key;
    recorder_lock_give();
}

uint32_t graph_exec_replayed(const struct launch *launch, const struct launch_words *words)
{
    struct graph_exec *entry = find(launch->function);
    if (entry == NULL || entry->nodes.incomplete) {
        recorder_lost(1, STORE_LOSS_NO_MEMORY);
        return STORE_NO_TARGET;
    }
    struct body_sum sum;
    if (!body_sum_open(&sum, entry->nodes.count)) {
        recorder_lost(1, STORE_LOSS_NO_MEMORY);
        return STORE_NO_TARGET;
    }
    bool keep = sum_up(entry, launch->stream, &sum);
    uint32_t body = keep ? bodies_find_or_add(&sum) : STORE_NO_TARGET;
    if (body == STORE_NO_TARGET) {
        body_sum_count_singly(&sum);
    } else {
        add_key(entry, words, STORE_TARGET(STORE_REPLAY, body));
    }
    body_sum_close(&sum);
    return body == STORE_NO_TARGET ? STORE_NO_TARGET : STORE_TARGET(STORE_REPLAY, body);
}
