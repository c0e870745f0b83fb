/* Executable graphs: instantiating, launching, ending. A launch counts the kernels of its nodes, each as
 * replayed, and carries out the rest in one order that the edges allow. */
#include "capture.h"
#include "event.h"
#include "graph.h"
#include "graph_memory.h"
#include "memory.h"
#include "require.h"
#include "stream.h"

#include <stdlib.h>

static struct pool exec_pool = POOL(struct CUgraphExec_st);

/* --- instantiating ------------------------------------------------------------------------------------- */

#define INSTANTIATE_FLAGS                                                                                    \
    (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |                  \
     CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

/* Why an instantiation failed. */
struct complaint {
    CUgraphNode node;
    CUgraphInstantiateResult result;
};

static bool device_can_launch(const struct CUgraphNode_st *node)
{
    CUgraphNodeType type = node->work.type;
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_GRAPH;
}

static CUresult check_for_device_launch(CUgraph graph, struct complaint *complaint)
{
    REQUIRE(graph->count != 0);
    for (size_t i = 0; i < graph->count; i++) {
        if (!device_can_launch(graph->nodes[i])) {
            *complaint =
                (struct complaint){graph->nodes[i], CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED};
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult check_flags(CUgraph graph, uint64_t flags, struct complaint *complaint)
{
    bool device_launch = flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    REQUIRE((flags & ~(uint64_t)INSTANTIATE_FLAGS) == 0 && !graph->is_capturing);
    REQUIRE(!device_launch || !(flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    return device_launch ? check_for_device_launch(graph, complaint) : CUDA_SUCCESS;
}

/* `offender` is a node of the copy: the client knows its original. */
static void complain_of_structure(CUgraph graph, const struct CUgraphNode_st *offender,
                                  struct complaint *complaint)
{
    complaint->result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    for (size_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i]->id == offender->origin) {
            complaint->node = graph->nodes[i];
        }
    }
}

static CUresult instantiate(CUgraph graph, uint64_t flags, CUgraphExec *out, struct complaint *complaint)
{
    CUgraph copy;
    CUgraphNode offender = NULL;
    *complaint = (struct complaint){NULL, CUDA_GRAPH_INSTANTIATE_ERROR};
    TRY(check_flags(graph, flags, complaint));
    TRY(graph_copy(graph, &copy));
    CUresult result = graph_order(copy, &offender);
    if (offender) {
        complain_of_structure(graph, offender, complaint);
    }
    struct CUgraphExec_st *exec = result == CUDA_SUCCESS ? pool_take(&exec_pool, OBJECT_GRAPH_EXEC) : NULL;
    if (!exec) {
        graph_free(copy);
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY;
    }
    copy->is_owned = true;
    exec->graph = copy;
    exec->flags = flags;
    complaint->result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    *out = exec;
    return CUDA_SUCCESS;
}

static CUresult instantiate_with_log(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                     size_t log_bytes)
{
    struct complaint complaint;
    CUresult result = instantiate(graph, 0, exec, &complaint);
    if (error_node) {
        *error_node = complaint.node;
    }
    if (log && log_bytes) {
        log[0] = '\0';
    }
    return result;
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                    size_t log_bytes)
{
    ENTER(cuGraphInstantiate);
    REQUIRE(exec);
    REQUIRE_GRAPH(graph, cuGraphInstantiate);
    return instantiate_with_log(exec, graph, error_node, log, log_bytes);
}

CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                       size_t log_bytes)
{
    ENTER(cuGraphInstantiate_v2);
    REQUIRE(exec);
    REQUIRE_GRAPH(graph, cuGraphInstantiate_v2);
    return instantiate_with_log(exec, graph, error_node, log, log_bytes);
}

/* Uploading takes a stream, which only the function with parameters has. */
CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    struct complaint complaint;
    ENTER(cuGraphInstantiateWithFlags);
    REQUIRE(exec && !(flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
    REQUIRE_GRAPH(graph, cuGraphInstantiateWithFlags);
    return instantiate(graph, flags, exec, &complaint);
}

STREAM_ENTRY(cuGraphInstantiateWithParams, _ptsz, (exec, graph, parameters), CUgraphExec *exec, CUgraph graph,
             CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
{
    struct complaint complaint;
    TRY(driver_enter(entry->call));
    REQUIRE(exec && parameters);
    if (!object_is(graph, OBJECT_GRAPH)) {
        return graph_refuse(graph, entry->call);
    }
    if (parameters->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) {
        struct CUstream_st *stream;
        TRY(stream_resolve(entry, parameters->hUploadStream, &stream));
    }
    CUresult result = instantiate(graph, parameters->flags, exec, &complaint);
    parameters->hErrNode_out = complaint.node;
    parameters->result_out = complaint.result;
    return result;
}

CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    ENTER(cuGraphExecGetFlags);
    REQUIRE(flags);
    REQUIRE_GRAPH_EXEC(exec, cuGraphExecGetFlags);
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

/* A launch under way has a copy of what it needs. */
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec)
{
    ENTER(cuGraphExecDestroy);
    REQUIRE_GRAPH_EXEC(exec, cuGraphExecDestroy);
    graph_free(exec->graph);
    pool_give(&exec_pool, exec);
    return CUDA_SUCCESS;
}

/* --- replays: what a launch carries out ---------------------------------------------------------------- */

struct replay {
    size_t count, room;
    struct operation *operations;
};

static bool replay_add(struct replay *replay, const struct operation *operation)
{
    if (replay->count == replay->room) {
        size_t room = replay->room ? replay->room * 2 : 8;
        struct operation *operations = realloc(replay->operations, room * sizeof(*operations));
        if (!operations) {
            return false;
        }
        replay->operations = operations;
        replay->room = room;
    }
    replay->operations[replay->count++] = *operation;
    return true;
}

static void replay_free(struct replay *replay)
{
    free(replay->operations);
    free(replay);
}

/* Tickets and references are taken when a launch is accepted, not when it runs. */
static void begin_event(struct operation *operation, enum operation_kind kind, struct CUevent_st *event)
{
    operation->kind = kind;
    operation->event.event = event;
    if (kind == OPERATION_RECORD) {
        atomic_store(&event->capture, NULL);
        operation->event.ticket = event_take_ticket(event);
    } else {
        operation->event.ticket = atomic_load(&event->recorded);
        atomic_fetch_add(&event->references, 1);
    }
}

static void begin_fill(struct operation *operation, const CUDA_MEMSET_NODE_PARAMS_v2 *fill)
{
    operation->kind = OPERATION_FILL;
    operation->fill = (CUDA_MEMSET_NODE_PARAMS){.dst = fill->dst,
                                                .pitch = fill->pitch,
                                                .value = fill->value,
                                                .elementSize = fill->elementSize,
                                                .width = fill->width,
                                                .height = fill->height};
}

/* Memory of the graph's own allocation nodes stays; only what came from elsewhere is really freed. */
static void begin_free(struct operation *operation, CUdeviceptr address)
{
    struct memory_range range;
    if (memory_find(address, &range) && range.kind == MEMORY_ASYNC) {
        operation->kind = OPERATION_FREE;
        operation->memory.address = address;
    }
}

static void begin(struct operation *operation, const struct graph_work *work)
{
    *operation = (struct operation){.kind = OPERATION_NOTHING};
    switch (work->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        operation->kind = OPERATION_COPY;
        operation->copy = work->copy.parameters;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        begin_fill(operation, &work->fill);
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        operation->kind = OPERATION_HOST;
        operation->host.function = work->host.fn;
        operation->host.data = work->host.userData;
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        begin_event(operation, OPERATION_RECORD, work->event);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        begin_event(operation, OPERATION_WAIT, work->event);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        begin_free(operation, work->freed);
        break;
    default:
        break;
    }
}

static bool collect_words(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *words, struct replay *replay)
{
    bool added = true;
    for (unsigned i = 0; i < words->count && added; i++) {
        struct operation operation = {.kind = OPERATION_MEMORY_WORD, .word = words->paramArray[i]};
        added = replay_add(replay, &operation);
    }
    return added;
}

static bool collect(CUgraph graph, struct replay *replay)
{
    bool added = true;
    for (size_t i = 0; i < graph->count && added; i++) {
        const struct graph_work *work = &graph->order[i]->work;
        struct operation operation;
        if (graph->order[i]->is_disabled) {
            continue;
        }
        if (work->type == CU_GRAPH_NODE_TYPE_GRAPH) {
            added = collect(work->child, replay);
        } else if (work->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
            added = collect_words(&work->words, replay);
        } else {
            begin(&operation, work);
            added = operation.kind == OPERATION_NOTHING || replay_add(replay, &operation);
        }
    }
    return added;
}

/* Gives back what begin_event took, without the work having been done. */
static void replay_abandon(struct replay *replay)
{
    for (size_t i = 0; replay && i < replay->count; i++) {
        const struct operation *operation = &replay->operations[i];
        if (operation->kind == OPERATION_RECORD) {
            event_complete(operation->event.event, operation->event.ticket);
        } else if (operation->kind == OPERATION_WAIT) {
            event_wait(operation->event.event, 0);
        }
    }
    if (replay) {
        replay_free(replay);
    }
}

/* NULL and SUCCESS if there is nothing but kernels. */
static CUresult replay_make(CUgraph graph, struct replay **out)
{
    struct replay *replay = calloc(1, sizeof(*replay));
    *out = NULL;
    if (!replay || !collect(graph, replay)) {
        replay_abandon(replay);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (replay->count == 0) {
        replay_free(replay);
        return CUDA_SUCCESS;
    }
    *out = replay;
    return CUDA_SUCCESS;
}

static bool runs_on_worker(const struct replay *replay)
{
    for (size_t i = 0; replay && i < replay->count; i++) {
        const struct operation *operation = &replay->operations[i];
        if (operation->kind == OPERATION_HOST || operation->kind == OPERATION_MEMORY_WORD ||
            (operation->kind == OPERATION_WAIT &&
             atomic_load(&operation->event.event->completed) < operation->event.ticket)) {
            return true;
        }
    }
    return false;
}

void graph_replay_execute(CUgraphExec exec, void *data)
{
    struct replay *replay = data;
    (void)exec;
    for (size_t i = 0; replay && i < replay->count; i++) {
        operation_execute(&replay->operations[i]);
    }
    if (replay) {
        replay_free(replay);
    }
}

/* --- launching ----------------------------------------------------------------------------------------- */

static CUresult check_work(enum call call, const struct graph_work *work)
{
    switch (work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return object_is(work->kernel.request.function, OBJECT_FUNCTION)
                   ? CUDA_SUCCESS
                   : object_refuse(work->kernel.request.function, call);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return object_is(work->event, OBJECT_EVENT) ? CUDA_SUCCESS : object_refuse(work->event, call);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return memory_check_copy(&work->copy.parameters);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return memory_check_fill((const CUDA_MEMSET_NODE_PARAMS *)&work->fill);
    default:
        return CUDA_SUCCESS;
    }
}

/* What a node needs may have gone since the graph was made. */
static CUresult check_nodes(enum call call, CUgraph graph)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->is_disabled) {
            continue;
        }
        result = node->work.type == CU_GRAPH_NODE_TYPE_GRAPH ? check_nodes(call, node->work.child)
                                                             : check_work(call, &node->work);
    }
    return result;
}

static void count_kernels(CUgraph graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->is_disabled) {
            continue;
        }
        if (node->work.type == CU_GRAPH_NODE_TYPE_KERNEL) {
            ledger_count_launch(&node->work.kernel.request, 1, true);
            function_note_launch(node->work.kernel.request.function);
        } else if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            count_kernels(node->work.child);
        }
    }
}

static CUresult launch(CUgraphExec exec, struct CUstream_st *stream)
{
    struct replay *replay;
    struct operation operation = {.kind = OPERATION_GRAPH};
    TRY(replay_make(exec->graph, &replay));
    operation.graph.exec = exec;
    operation.graph.replay = replay;
    operation.graph.wants_worker = runs_on_worker(replay);
    CUresult result = stream_submit(stream, &operation);
    if (result != CUDA_SUCCESS) {
        replay_abandon(replay);
        return result;
    }
    count_kernels(exec->graph);
    return CUDA_SUCCESS;
}

STREAM_ENTRY(cuGraphLaunch, _ptsz, (exec, stream), CUgraphExec exec, CUstream stream)
{
    ENTER_STREAM(stream);
    if (!object_is(exec, OBJECT_GRAPH_EXEC)) {
        return graph_refuse(exec, entry->call);
    }
    if (atomic_load(&stream->capture)) {
        struct operation operation = {.kind = OPERATION_GRAPH, .graph = {.exec = exec}};
        return capture_record(stream, &operation);
    }
    TRY(check_nodes(entry->call, exec->graph));
    TRY(graph_memory_launch(exec->graph, exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    return launch(exec, stream);
}

/* There is nothing to prepare. */
STREAM_ENTRY(cuGraphUpload, _ptsz, (exec, stream), CUgraphExec exec, CUstream stream)
{
    ENTER_STREAM(stream);
    return object_is(exec, OBJECT_GRAPH_EXEC) ? CUDA_SUCCESS : graph_refuse(exec, entry->call);
}

static void empty_disabled_nodes(CUgraph graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct CUgraphNode_st *node = graph->nodes[i];
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            empty_disabled_nodes(node->work.child);
        } else if (node->is_disabled) {
            graph_work_free(&node->work);
            node->work.type = CU_GRAPH_NODE_TYPE_EMPTY;
            node->is_disabled = false;
        }
    }
}

CUresult graph_describe_exec(CUgraphExec exec, struct graph_work *work)
{
    work->type = CU_GRAPH_NODE_TYPE_GRAPH;
    TRY(graph_copy(exec->graph, &work->child));
    work->child->is_owned = true;
    empty_disabled_nodes(work->child);
    return CUDA_SUCCESS;
}
