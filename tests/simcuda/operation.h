/* One piece of work for a stream. Submitted to a stream it is executed (at once if nothing is ahead of it,
 * else by the stream's worker), or recorded when the stream is capturing. Graph nodes hold the same
 * operations. */
#ifndef SIMCUDA_OPERATION_H
#define SIMCUDA_OPERATION_H

#include "launch.h"

enum operation_kind {
    OPERATION_NOTHING,
    OPERATION_LAUNCH, /* counted when accepted; executing it does nothing */
    OPERATION_COPY,
    OPERATION_FILL,
    OPERATION_HOST,
    OPERATION_RECORD,
    OPERATION_WAIT,
    OPERATION_ALLOCATE, /* cuMemAllocAsync */
    OPERATION_FREE,
    OPERATION_MEMORY_WORD, /* wait for or write a 32- or 64-bit value */
    OPERATION_GRAPH,       /* cuGraphLaunch: graph_execute */
    OPERATION_BARRIER      /* inside stream.c: waits for another stream */
};

struct operation {
    enum operation_kind kind;
    union {
        struct launch_request launch;
        CUDA_MEMCPY3D copy;           /* addresses as CU_MEMORYTYPE_HOST, _DEVICE or _UNIFIED */
        CUDA_MEMSET_NODE_PARAMS fill; /* ctx is not looked at */
        struct {
            CUhostFn function;
            void *data;
            CUstreamCallback callback; /* cuStreamAddCallback, instead of function */
            CUstream stream;
        } host;
        struct {
            CUevent event;
            uint64_t ticket; /* event.c: which recording */
            unsigned flags;
        } event;
        struct {
            CUdeviceptr address; /* ALLOCATE: already reserved */
            size_t bytes;
            CUmemoryPool pool;
        } memory;
        CUstreamBatchMemOpParams word;
        struct {
            CUgraphExec exec;
            void *replay;      /* graph.c: what to run, made when the launch was accepted */
            bool wants_worker; /* it runs host functions */
        } graph;
        struct {
            struct CUstream_st *stream;
            uint64_t ticket;
        } barrier;
    };
};

/* Does it now, on the calling thread. */
CUresult operation_execute(const struct operation *operation);

#endif
