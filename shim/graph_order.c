/* The order of a graph's kernels. Copies, events, host functions and disabled nodes pass order on, but are
 * nothing to run beside. A child graph becomes part of the graph around it: its node is the way in, a second
 * one the way out, and its nodes lie between the two. Linear in nodes and edges. */
#include "graph_order.h"

#include <string.h>

#include "memory.h"

enum side { BEFORE, AFTER };
enum mark { LAUNCHES = 1 << 0, REACHED = 1 << 1, LED_ON = 1 << 2 };

struct order {
    uint32_t nodes;
    uint32_t *first[2],
        *neighbours[2]; /* by side: those of node n are from first[n] to before first[n + 1] */
    uint32_t *unmet;    /* neighbours before it that the topological order does not have yet */
    uint32_t *stack, stacked;
    uint32_t *kernels, kernels_count; /* in a topological order */
    uint8_t *marks;
};

static uint32_t way_out(const struct graph_nodes *nodes, uint32_t i)
{
    return nodes->list[i].kind == GRAPH_NODE_CHILD ? nodes->count + i : i;
}

/* Counted at first, so that there is a place for each when they are noted. */
static void edge(struct order *order, bool noted, uint32_t from, uint32_t to)
{
    uint32_t *before = &order->first[BEFORE][to], *after = &order->first[AFTER][from];
    if (noted) {
        order->neighbours[BEFORE][--*before] = from;
        order->neighbours[AFTER][--*after] = to;
    } else {
        ++*before;
        ++*after;
    }
}

static void all_edges(struct order *order, bool noted, const struct graph_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->edge_count; i++) {
        edge(order, noted, way_out(nodes, nodes->edges[i].from), nodes->edges[i].to);
    }
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t parent = nodes->list[i].parent, out = way_out(nodes, i);
        if (parent) {
            edge(order, noted, parent - 1, i);
            edge(order, noted, out, way_out(nodes, parent - 1));
        }
        if (out != i) {
            edge(order, noted, i, out);
        }
    }
}

static void link_up(struct order *order, const struct graph_nodes *nodes)
{
    all_edges(order, false, nodes);
    for (uint32_t i = 0; i < order->nodes; i++) {
        order->first[BEFORE][i + 1] += order->first[BEFORE][i];
        order->first[AFTER][i + 1] += order->first[AFTER][i];
    }
    all_edges(order, true, nodes);
}

static void mark_launching(struct order *order, const struct graph_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        order->marks[i] = graph_node_launches(&nodes->list[i]) && graph_node_runs(nodes, i) ? LAUNCHES : 0;
    }
}

/* False: some nodes wait for each other. */
static bool sort(struct order *order)
{
    uint32_t sorted = 0;
    for (uint32_t i = 0; i < order->nodes; i++) {
        order->unmet[i] = order->first[BEFORE][i + 1] - order->first[BEFORE][i];
        if (order->unmet[i] == 0) {
            order->stack[order->stacked++] = i;
        }
    }
    for (; order->stacked; sorted++) {
        uint32_t node = order->stack[--order->stacked];
        if (order->marks[node] & LAUNCHES) {
            order->kernels[order->kernels_count++] = node;
        }
        for (uint32_t i = order->first[AFTER][node]; i < order->first[AFTER][node + 1]; i++) {
            uint32_t next = order->neighbours[AFTER][i];
            if (--order->unmet[next] == 0) {
                order->stack[order->stacked++] = next;
            }
        }
    }
    return sorted == order->nodes;
}

/* Takes in a kernel and all that lies on the ways to it. How many kernels, dead ends until now, lead on. */
static uint32_t take_in(struct order *order, enum side side, uint32_t kernel)
{
    uint32_t led_on = 0;
    order->marks[kernel] |= REACHED;
    order->stack[order->stacked++] = kernel;
    while (order->stacked) {
        uint32_t node = order->stack[--order->stacked];
        for (uint32_t i = order->first[side][node]; i < order->first[side][node + 1]; i++) {
            uint32_t next = order->neighbours[side][i];
            uint8_t marks = order->marks[next];
            led_on += (marks & (LAUNCHES | LED_ON)) == LAUNCHES;
            order->marks[next] = marks | REACHED | LED_ON;
            if (!(marks & REACHED)) {
                order->stack[order->stacked++] = next;
            }
        }
    }
    return led_on;
}

/* All kernels taken in so far come before the latest one (or after it, by side) exactly if no other of them
 * is a dead end: whatever else was taken in leads to some of them. */
static void find_beside(struct order *order, enum side side, struct graph_nodes *nodes)
{
    uint32_t dead_ends = 0;
    for (uint32_t i = 0; i < order->kernels_count; i++) {
        uint32_t kernel = order->kernels[side == BEFORE ? i : order->kernels_count - 1 - i];
        dead_ends += 1 - take_in(order, side, kernel);
        nodes->list[kernel].beside = nodes->list[kernel].beside || dead_ends > 1;
    }
    for (uint32_t i = 0; i < order->nodes; i++) {
        order->marks[i] &= LAUNCHES;
    }
}

static uint64_t order_bytes(const struct graph_nodes *nodes)
{
    uint64_t count = nodes->count, edges = nodes->edge_count + 3 * count;
    return (2 * (2 * count + 1) + 2 * edges + 2 * (2 * count) + count) * sizeof(uint32_t) + 2 * count;
}

static void lay_out(struct order *order, const struct graph_nodes *nodes, uint32_t *place)
{
    uint64_t edges = nodes->edge_count + 3 * (uint64_t)nodes->count;
    order->nodes = 2 * nodes->count;
    for (int side = BEFORE; side <= AFTER; side++) {
        order->first[side] = place;
        order->neighbours[side] = place + order->nodes + 1;
        place += order->nodes + 1 + edges;
    }
    order->unmet = place;
    order->stack = order->unmet + order->nodes;
    order->kernels = order->stack + order->nodes;
    order->marks = (uint8_t *)(order->kernels + nodes->count);
}

bool graph_order_find(struct graph_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        nodes->list[i].beside = false;
    }
    uint32_t *memory = nodes->edges_unknown ? NULL : memory_map(order_bytes(nodes));
    if (memory == NULL) {
        return false;
    }
    struct order order = {0};
    lay_out(&order, nodes, memory);
    mark_launching(&order, nodes);
    link_up(&order, nodes);
    bool sorted = sort(&order);
    if (sorted) {
        find_beside(&order, BEFORE, nodes);
        find_beside(&order, AFTER, nodes);
    }
    memory_unmap(memory, order_bytes(nodes));
    return sorted;
}
