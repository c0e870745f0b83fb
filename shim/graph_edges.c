/* Reads a graph's edges from the driver. Handles of nodes become numbers by a table that lives as long. */
#include "graph_edges.h"

#include <string.h>

#include "index.h"
#include "memory.h"

enum { FIRST_EDGES = 64, MOST_EDGES = 1 << 22 };

static uint64_t edges_bytes(uint32_t capacity)
{
    return (uint64_t)capacity * sizeof(struct graph_edge);
}

void graph_edges_release(struct graph_nodes *nodes)
{
    memory_unmap(nodes->edges, edges_bytes(nodes->edge_capacity));
}

static bool reserve(struct graph_nodes *nodes, size_t more)
{
    if (more > MOST_EDGES - nodes->edge_count) {
        return false;
    }
    uint32_t capacity = nodes->edge_capacity ? nodes->edge_capacity : FIRST_EDGES;
    while (capacity < nodes->edge_count + more) {
        capacity *= 2;
    }
    if (capacity == nodes->edge_capacity) {
        return true;
    }
    struct graph_edge *edges = memory_map(edges_bytes(capacity));
    if (edges == NULL) {
        return false;
    }
    if (nodes->edge_count) {
        memcpy(edges, nodes->edges, edges_bytes(nodes->edge_count));
    }
    graph_edges_release(nodes);
    nodes->edges = edges;
    nodes->edge_capacity = capacity;
    return true;
}

/* --- from handles to numbers ------------------------------------------------------------------------- */

struct table {
    uint32_t *slots; /* position in the level + 1; 0 is free */
    uint32_t mask;
};

static uint64_t table_bytes(const struct table *table)
{
    return ((uint64_t)table->mask + 1) * sizeof *table->slots;
}

static uint32_t *slot_of(const struct table *table, const struct graph_level *level, CUgraphNode node)
{
    uint32_t i = index_hash_address(node) & table->mask;
    while (table->slots[i] && level->nodes[table->slots[i] - 1] != node) {
        i = (i + 1) & table->mask;
    }
    return &table->slots[i];
}

static bool table_open(struct table *table, const struct graph_level *level)
{
    uint32_t slots = 64;
    while (slots < level->count * 2) {
        slots *= 2;
    }
    table->mask = slots - 1;
    table->slots = memory_map(table_bytes(table));
    for (uint32_t i = 0; table->slots && i < level->count; i++) {
        *slot_of(table, level, level->nodes[i]) = i + 1;
    }
    return table->slots != NULL;
}

/* --- edges ------------------------------------------------------------------------------------------- */

/* As the driver gives them. */
struct answer {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t count;
};

/* Drivers before 12.3 know no edge data. */
static bool ask(CUgraph graph, struct answer *answer)
{
    const struct driver_queries *driver = driver_query();
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (driver->cuGraphGetEdges_v2) {
        result = driver->cuGraphGetEdges_v2(graph, answer->from, answer->to, answer->data, &answer->count);
    } else if (driver->cuGraphGetEdges) {
        result = driver->cuGraphGetEdges(graph, answer->from, answer->to, &answer->count);
    }
    return result == CUDA_SUCCESS;
}

static bool append(const struct answer *answer, const struct graph_level *level, struct graph_nodes *nodes)
{
    struct table table;
    bool known = table_open(&table, level);
    for (size_t i = 0; known && i < answer->count; i++) {
        uint32_t from = *slot_of(&table, level, answer->from[i]);
        uint32_t to = *slot_of(&table, level, answer->to[i]);
        known = from && to;
        if (known) {
            to = level->numbers[to - 1];
            nodes->edges[nodes->edge_count++] = (struct graph_edge){level->numbers[from - 1], to};
            bool programmatic = answer->data[i].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
            nodes->list[to].programmatic = nodes->list[to].programmatic || programmatic;
        }
    }
    memory_unmap(table.slots, table_bytes(&table));
    return known;
}

static bool read_edges(CUgraph graph, const struct graph_level *level, struct graph_nodes *nodes)
{
    struct answer answer = {0};
    if (!ask(graph, &answer)) {
        return false;
    }
    if (answer.count == 0) {
        return true;
    }
    size_t count = answer.count;
    uint64_t bytes = count * (2 * sizeof *answer.from + sizeof *answer.data);
    answer.from = reserve(nodes, count) ? memory_map(bytes) : NULL;
    if (answer.from == NULL) {
        return false;
    }
    answer.to = answer.from + count;
    answer.data = (CUgraphEdgeData *)(answer.to + count);
    bool known = ask(graph, &answer) && answer.count == count && append(&answer, level, nodes);
    memory_unmap(answer.from, bytes);
    return known;
}

void graph_edges_read(CUgraph graph, const struct graph_level *level, struct graph_nodes *nodes)
{
    nodes->edges_unknown = nodes->edges_unknown || !read_edges(graph, level, nodes);
}
