/* Which kernels of a graph may run beside others, against the definition: of each pair of nodes, looked at in
 * the innermost graph that holds both, whether a way leads from the one to the other. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "shim/graph_order.h"

enum { MOST = 48, RANDOM_GRAPHS = 20000 };

static struct graph_node list[MOST];
static struct graph_edge edges[MOST * MOST];

static struct graph_nodes empty(void)
{
    return (struct graph_nodes){.list = list, .capacity = MOST, .edges = edges, .edge_capacity = MOST * MOST};
}

static uint32_t add(struct graph_nodes *nodes, enum graph_node_kind kind, uint32_t parent)
{
    nodes->list[nodes->count] = (struct graph_node){.kind = (uint8_t)kind, .parent = parent};
    return nodes->count++;
}

static void link_nodes(struct graph_nodes *nodes, uint32_t from, uint32_t to)
{
    nodes->edges[nodes->edge_count++] = (struct graph_edge){from, to};
}

/* --- the definition ---------------------------------------------------------------------------------- */

static bool leads[MOST][MOST]; /* between nodes of one level */

static void find_ways(const struct graph_nodes *nodes)
{
    memset(leads, 0, sizeof leads);
    for (uint32_t i = 0; i < nodes->edge_count; i++) {
        leads[nodes->edges[i].from][nodes->edges[i].to] = true;
    }
    for (uint32_t over = 0; over < nodes->count; over++) {
        for (uint32_t from = 0; from < nodes->count; from++) {
            for (uint32_t to = 0; to < nodes->count; to++) {
                leads[from][to] = leads[from][to] || (leads[from][over] && leads[over][to]);
            }
        }
    }
}

static uint32_t depth(const struct graph_nodes *nodes, uint32_t i)
{
    return nodes->list[i].parent ? 1 + depth(nodes, nodes->list[i].parent - 1) : 0;
}

static bool are_ordered(const struct graph_nodes *nodes, uint32_t a, uint32_t b)
{
    while (nodes->list[a].parent != nodes->list[b].parent) {
        uint32_t *deeper = depth(nodes, a) >= depth(nodes, b) ? &a : &b;
        *deeper = nodes->list[*deeper].parent - 1;
    }
    return leads[a][b] || leads[b][a];
}

static bool takes_part(const struct graph_nodes *nodes, uint32_t i)
{
    return graph_node_launches(&nodes->list[i]) && graph_node_runs(nodes, i);
}

static void assert_defined(struct graph_nodes *nodes)
{
    find_ways(nodes);
    assert_true(graph_order_find(nodes));
    for (uint32_t i = 0; i < nodes->count; i++) {
        bool beside = false;
        for (uint32_t j = 0; j < nodes->count; j++) {
            bool both = i != j && takes_part(nodes, i) && takes_part(nodes, j);
            beside = beside || (both && !are_ordered(nodes, i, j));
        }
        assert_int_equal(nodes->list[i].beside, beside);
    }
}

/* --- random graphs ----------------------------------------------------------------------------------- */

static uint32_t dice(uint32_t sides)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % sides;
}

/* Nodes come in any order: an edge goes from the lower rank to the higher. */
static void add_level(struct graph_nodes *nodes, uint32_t parent, uint32_t most, uint32_t levels)
{
    uint32_t numbers[MOST], ranks[MOST], count = dice(most + 1), density = 1 + dice(6);
    for (uint32_t i = 0; i < count && nodes->count < MOST; i++) {
        static const enum graph_node_kind kinds[] = {GRAPH_NODE_KERNEL, GRAPH_NODE_KERNEL, GRAPH_NODE_OTHER,
                                                     GRAPH_NODE_CONDITIONAL, GRAPH_NODE_UPDATABLE};
        bool child = levels && dice(5) == 0;
        numbers[i] = add(nodes, child ? GRAPH_NODE_CHILD : kinds[dice(5)], parent);
        ranks[i] = dice(1000) * MOST + i;
        nodes->list[numbers[i]].disabled = dice(8) == 0;
        if (child) {
            add_level(nodes, numbers[i] + 1, most / 2, levels - 1);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (dice(density) == 0) {
                bool forward = ranks[j] < ranks[i];
                link_nodes(nodes, numbers[forward ? j : i], numbers[forward ? i : j]);
            }
        }
    }
}

static void random_graphs_follow_the_definition(void **state)
{
    (void)state;
    uint32_t beside = 0, alone = 0;
    for (int round = 0; round < RANDOM_GRAPHS; round++) {
        struct graph_nodes nodes = empty();
        add_level(&nodes, 0, 4 + (uint32_t)round % 9, 3);
        assert_defined(&nodes);
        for (uint32_t i = 0; i < nodes.count; i++) {
            beside += nodes.list[i].beside;
            alone += takes_part(&nodes, i) && !nodes.list[i].beside;
        }
    }
    print_message("%u kernels beside others, %u alone\n", beside, alone);
    assert_true(beside > RANDOM_GRAPHS && alone > RANDOM_GRAPHS / 2);
}

/* --- by hand ----------------------------------------------------------------------------------------- */

static void a_copy_is_nothing_to_run_beside(void **state)
{
    (void)state;
    struct graph_nodes nodes = empty();
    uint32_t first = add(&nodes, GRAPH_NODE_KERNEL, 0), copy = add(&nodes, GRAPH_NODE_OTHER, 0),
             beside_copy = add(&nodes, GRAPH_NODE_KERNEL, 0), last = add(&nodes, GRAPH_NODE_KERNEL, 0);
    link_nodes(&nodes, first, copy);
    link_nodes(&nodes, first, beside_copy);
    link_nodes(&nodes, copy, last);
    assert_defined(&nodes);
    assert_false(nodes.list[first].beside);
    assert_true(nodes.list[beside_copy].beside && nodes.list[last].beside); /* nothing orders these two */
    link_nodes(&nodes, beside_copy, last);
    assert_defined(&nodes);
    assert_false(nodes.list[beside_copy].beside || nodes.list[last].beside);
}

static void a_disabled_branch_leaves_the_other_alone(void **state)
{
    (void)state;
    struct graph_nodes nodes = empty();
    uint32_t left = add(&nodes, GRAPH_NODE_KERNEL, 0), right = add(&nodes, GRAPH_NODE_CHILD, 0),
             inner = add(&nodes, GRAPH_NODE_KERNEL, right + 1);
    assert_defined(&nodes);
    assert_true(nodes.list[left].beside && nodes.list[inner].beside);
    nodes.list[right].disabled = true;
    assert_defined(&nodes);
    assert_false(nodes.list[left].beside || nodes.list[inner].beside);
}

static void what_is_no_order_is_not_known(void **state)
{
    (void)state;
    struct graph_nodes nodes = empty();
    uint32_t a = add(&nodes, GRAPH_NODE_KERNEL, 0), b = add(&nodes, GRAPH_NODE_KERNEL, 0);
    link_nodes(&nodes, a, b);
    nodes.edges_unknown = true;
    assert_false(graph_order_find(&nodes));
    nodes.edges_unknown = false;
    link_nodes(&nodes, b, a);
    assert_false(graph_order_find(&nodes));
    assert_false(nodes.list[a].beside || nodes.list[b].beside);
    nodes = empty();
    assert_true(graph_order_find(&nodes));
}

/* A chain of so many kernels, then as many side by side: neither deep nor wide ones use up a stack. */
static void large_graphs(void **state)
{
    (void)state;
    enum { KERNELS = 200000 };
    struct graph_nodes nodes = {.list = calloc(2 * KERNELS, sizeof *nodes.list),
                                .edges = calloc(2 * KERNELS, sizeof *nodes.edges)};
    assert_true(nodes.list && nodes.edges);
    for (uint32_t i = 0; i < 2 * KERNELS; i++) {
        add(&nodes, GRAPH_NODE_KERNEL, 0);
        if (i > 0) {
            link_nodes(&nodes, i <= KERNELS ? i - 1 : KERNELS - 1, i);
        }
    }
    assert_true(graph_order_find(&nodes));
    for (uint32_t i = 0; i < 2 * KERNELS; i++) {
        assert_int_equal(nodes.list[i].beside, i >= KERNELS);
    }
    free(nodes.list);
    free(nodes.edges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_nothing_to_run_beside),
        cmocka_unit_test(a_disabled_branch_leaves_the_other_alone),
        cmocka_unit_test(what_is_no_order_is_not_known),
        cmocka_unit_test(random_graphs_follow_the_definition),
        cmocka_unit_test(large_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
