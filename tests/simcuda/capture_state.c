/* The captures under way: their streams, events and nodes. */
#include "capture_state.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *under_way;
static _Atomic unsigned under_way_count;
static uint64_t last_id;
struct capture capture_ended;

void capture_lock(void)
{
    pthread_mutex_lock(&lock);
}

void capture_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool capture_any(void)
{
    return atomic_load_explicit(&under_way_count, memory_order_relaxed) != 0;
}

struct capture *capture_first(void)
{
    return under_way;
}

struct capture *capture_of(const struct CUstream_st *stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_acquire);
}

/* --- sets of nodes ------------------------------------------------------------------------------------- */

static bool node_set_reserve(struct node_set *set, size_t count)
{
    if (count <= set->room) {
        return true;
    }
    size_t room = count < 4 ? 4 : count * 2;
    CUgraphNode *nodes = realloc(set->nodes, room * sizeof(CUgraphNode));
    set->nodes = nodes ? nodes : set->nodes;
    CUgraphEdgeData *data = realloc(set->data, room * sizeof(*data));
    set->data = data ? data : set->data;
    if (nodes && data) {
        set->room = room;
    }
    return nodes && data;
}

static bool node_set_has(const struct node_set *set, CUgraphNode node)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->nodes[i] == node) {
            return true;
        }
    }
    return false;
}

CUresult node_set_add(struct node_set *set, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                      size_t count)
{
    static const CUgraphEdgeData default_edge;
    if (!node_set_reserve(set, set->count + count)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        if (!node_set_has(set, nodes[i])) {
            set->nodes[set->count] = nodes[i];
            set->data[set->count++] = data ? data[i] : default_edge;
        }
    }
    return CUDA_SUCCESS;
}

CUresult node_set_assign(struct node_set *set, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                         size_t count)
{
    set->count = 0;
    return node_set_add(set, nodes, data, count);
}

void node_set_free(struct node_set *set)
{
    free(set->nodes);
    free(set->data);
}

/* --- streams ------------------------------------------------------------------------------------------- */

struct captured_stream *capture_stream_state(struct capture *capture, const struct CUstream_st *stream)
{
    struct captured_stream *state = capture->streams;
    while (state && state->stream != stream) {
        state = state->next;
    }
    return state;
}

bool capture_blocks_legacy(const struct CUstream_st *stream)
{
    return !(stream->flags & CU_STREAM_NON_BLOCKING);
}

CUresult capture_add_stream(struct capture *capture, struct CUstream_st *stream, const struct node_set *tail)
{
    struct captured_stream *state = calloc(1, sizeof(*state));
    if (!state || node_set_assign(&state->tail, tail->nodes, tail->data, tail->count) != CUDA_SUCCESS) {
        free(state);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    state->stream = stream;
    state->next = capture->streams;
    capture->streams = state;
    if (capture_blocks_legacy(stream)) {
        atomic_fetch_add(&stream->context->capturing_blocking, 1);
    }
    atomic_store_explicit(&stream->capture, capture, memory_order_release);
    return CUDA_SUCCESS;
}

void capture_remove_stream(struct capture *capture, struct captured_stream *state)
{
    struct captured_stream **link = &capture->streams;
    while (*link != state) {
        link = &(*link)->next;
    }
    *link = state->next;
    if (capture_blocks_legacy(state->stream)) {
        atomic_fetch_sub(&state->stream->context->capturing_blocking, 1);
    }
    atomic_store_explicit(&state->stream->capture, NULL, memory_order_release);
    node_set_free(&state->tail);
    free(state);
}

/* --- beginning and ending ------------------------------------------------------------------------------ */

CUresult capture_begin(struct CUstream_st *stream, CUstreamCaptureMode mode, CUgraph graph,
                       const struct node_set *tail)
{
    struct capture *capture = calloc(1, sizeof(*capture));
    if (!capture) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *capture = (struct capture){.mode = mode,
                                .thread = thread_current(),
                                .origin = stream,
                                .graph = graph ? graph : graph_make(),
                                .is_clients_graph = graph != NULL};
    if (!capture->graph || capture_add_stream(capture, stream, tail) != CUDA_SUCCESS) {
        if (!graph) {
            graph_free(capture->graph);
        }
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->id = ++last_id;
    capture->graph->is_capturing = true;
    capture->next = under_way;
    under_way = capture;
    atomic_fetch_add(&under_way_count, 1);
    return CUDA_SUCCESS;
}

/* An event may have been destroyed, or recorded again, since. */
static void free_events(struct capture *capture)
{
    struct captured_event *next;
    for (struct captured_event *state = capture->events; state; state = next) {
        struct capture *expected = capture;
        next = state->next;
        atomic_compare_exchange_strong(&state->event->capture, &expected, &capture_ended);
        node_set_free(&state->tail);
        free(state);
    }
}

CUgraph capture_finish(struct capture *capture, bool discarded)
{
    struct capture **link = &under_way;
    CUgraph graph = capture->graph;
    while (*link != capture) {
        link = &(*link)->next;
    }
    *link = capture->next;
    atomic_fetch_sub(&under_way_count, 1);
    while (capture->streams) {
        capture_remove_stream(capture, capture->streams);
    }
    free_events(capture);
    graph->is_capturing = false;
    if (discarded && !capture->is_clients_graph) {
        graph_free(graph);
    }
    free(capture);
    return discarded ? NULL : graph;
}

/* --- is everything joined? ----------------------------------------------------------------------------- */

/* Marks the nodes and all that they depend on. */
static void mark(const struct node_set *set, bool *reached, CUgraphNode *stack)
{
    size_t depth = 0;
    for (size_t i = 0; i < set->count; i++) {
        reached[set->nodes[i]->index] = true;
        stack[depth++] = set->nodes[i];
    }
    while (depth) {
        const struct graph_edges *dependencies = &stack[--depth]->dependencies;
        for (size_t i = 0; i < dependencies->count; i++) {
            struct CUgraphNode_st *node = dependencies->edges[i].node;
            if (!reached[node->index]) {
                reached[node->index] = true;
                stack[depth++] = node;
            }
        }
    }
}

static bool all_marked(const struct node_set *set, const bool *reached)
{
    for (size_t i = 0; i < set->count; i++) {
        if (!reached[set->nodes[i]->index]) {
            return false;
        }
    }
    return true;
}

bool capture_is_joined(const struct capture *capture)
{
    size_t count = capture->graph->count;
    bool *reached = calloc(count + 1, sizeof(*reached));
    CUgraphNode *stack = malloc((count + 1) * sizeof(CUgraphNode));
    bool joined = reached && stack;
    for (struct captured_stream *state = capture->streams; joined && state; state = state->next) {
        if (state->stream == capture->origin) {
            mark(&state->tail, reached, stack);
        }
    }
    for (struct captured_stream *state = capture->streams; joined && state; state = state->next) {
        joined = all_marked(&state->tail, reached);
    }
    free(reached);
    free(stack);
    return joined;
}
