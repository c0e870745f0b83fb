/* Kernels, nodes and launches for the programs about graphs and captures. */
#include "graph_support.h"

struct kernels kernels_load(void)
{
    struct kernels kernels;
    CUlibrary library;
    conformance_begin();
    CUmodule module = load_ptx(kernels_ptx);
    SUCCEED(api.cuCtxGetCurrent(&kernels.context));
    SUCCEED(api.cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
    SUCCEED(api.cuLibraryGetKernel(&kernels.library_three, library, "three"));
    kernels.three = function_of(module, "three");
    kernels.plain = function_of(module, "plain");
    return kernels;
}

CUdeviceptr memory_allocate(size_t bytes)
{
    CUdeviceptr memory = 0;
    SUCCEED(api.cuMemAlloc(&memory, bytes));
    return memory;
}

CUDA_KERNEL_NODE_PARAMS kernel_parameters(CUfunction function, unsigned blocks, struct arguments *arguments)
{
    *arguments = (struct arguments){.a = 1, .b = 2, .c = 3};
    arguments->pointers[0] = &arguments->a;
    arguments->pointers[1] = &arguments->b;
    arguments->pointers[2] = &arguments->c;
    return (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                     .gridDimX = blocks,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = THREADS,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments->pointers};
}

CUgraphNode add_kernel(CUgraph graph, const CUgraphNode *after, CUfunction function, unsigned blocks)
{
    struct arguments arguments;
    CUgraphNode node = NULL;
    CUDA_KERNEL_NODE_PARAMS given = kernel_parameters(function, blocks, &arguments);
    SUCCEED(api.cuGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &given));
    return node;
}

void launch_kernel(CUstream stream, CUfunction function, unsigned blocks)
{
    struct arguments arguments;
    kernel_parameters(function, blocks, &arguments);
    SUCCEED(api.cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, stream, arguments.pointers, NULL));
}

void launch_graph(CUgraphExec exec, CUstream stream, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        SUCCEED(api.cuGraphLaunch(exec, stream));
    }
}

void check_types(CUgraph graph, const CUgraphNodeType *expected, size_t count)
{
    CUgraphNode nodes[16];
    size_t found = sizeof(nodes) / sizeof(nodes[0]);
    SUCCEED(api.cuGraphGetNodes(graph, nodes, &found));
    CHECK(found == count);
    for (size_t i = 0; i < found && i < count; i++) {
        CUgraphNodeType type;
        SUCCEED(api.cuGraphNodeGetType(nodes[i], &type));
        CHECK(type == expected[i]);
    }
}

void launched(const char *kernel, unsigned blocks, unsigned count, unsigned replayed)
{
    printf("launch kernel=%s device=0 grid=%u,1,1 block=%d,1,1 cluster=1,1,1 shared=0 count=%u replayed=%u\n",
           kernel, blocks, THREADS, count, replayed);
}
