/* For the programs about graphs and captures: kernels to put into nodes, and the launches that a program
 * made, which tests compare with the ledger. */
#ifndef CONFORMANCE_GRAPH_SUPPORT_H
#define CONFORMANCE_GRAPH_SUPPORT_H

#include "conformance.h"

#define THREADS 64 /* of every block here */

struct kernels {
    CUcontext context;
    CUfunction three, plain; /* conformance.h */
    CUkernel library_three;
};

/* Values of the parameters of `three`; `plain` takes none and ignores them. */
struct arguments {
    uint64_t a;
    uint32_t b;
    uint8_t c;
    void *pointers[3];
};

/* Starts the driver and loads the kernels, as module and as library. */
struct kernels kernels_load(void);
CUdeviceptr memory_allocate(size_t bytes);

CUDA_KERNEL_NODE_PARAMS kernel_parameters(CUfunction function, unsigned blocks, struct arguments *arguments);
/* A kernel node behind `after`, or without dependencies for NULL. */
CUgraphNode add_kernel(CUgraph graph, const CUgraphNode *after, CUfunction function, unsigned blocks);
void launch_kernel(CUstream stream, CUfunction function, unsigned blocks);
void launch_graph(CUgraphExec exec, CUstream stream, unsigned times);
void check_types(CUgraph graph, const CUgraphNodeType *expected, size_t count);

/* One line for a configuration that the program ran: `count` launches, `replayed` of them by graphs. */
void launched(const char *kernel, unsigned blocks, unsigned count, unsigned replayed);

#endif
