/* Doing what an operation says. */
#include "operation.h"

#include "capture.h"
#include "event.h"
#include "graph_memory.h"
#include "memory.h"

static void execute_host(const struct operation *operation)
{
    struct thread_state *thread = thread_current();
    bool outer = thread->in_callback;
    if (operation->host.callback) {
        operation->host.callback(operation->host.stream, CUDA_SUCCESS, operation->host.data);
        return;
    }
    thread->in_callback = true;
    operation->host.function(operation->host.data);
    thread->in_callback = outer;
}

CUresult operation_execute(const struct operation *operation)
{
    switch (operation->kind) {
    case OPERATION_COPY:
        memory_copy(&operation->copy);
        break;
    case OPERATION_FILL:
        memory_fill(&operation->fill);
        break;
    case OPERATION_HOST:
        execute_host(operation);
        break;
    case OPERATION_RECORD:
        event_complete(operation->event.event, operation->event.ticket);
        break;
    case OPERATION_WAIT:
        event_wait(operation->event.event, operation->event.ticket);
        break;
    case OPERATION_FREE:
        return memory_holds(operation->memory.address, 1, MEMORY_GRAPH)
                   ? graph_memory_client_frees(operation->memory.address)
                   : memory_release(operation->memory.address, MEMORY_ANY);
    case OPERATION_MEMORY_WORD:
        memory_word(&operation->word);
        break;
    case OPERATION_GRAPH:
        graph_replay_execute(operation->graph.exec, operation->graph.replay);
        break;
    case OPERATION_NOTHING:
    case OPERATION_LAUNCH:
    case OPERATION_ALLOCATE:
    case OPERATION_BARRIER:
        break;
    }
    return CUDA_SUCCESS;
}
