// Graphs through the runtime: nodes by host function, device variables and kinds of copies; capture; updates.
#include "runtime.h"

__device__ int number = 1;

extern "C" __global__ void step(int *out, int value)
{
    out[threadIdx.x] = value;
}

static void CUDART_CB add_one(void *data)
{
    ++*(int *)data;
}

static void nodes(int *memory)
{
    static int calls;
    int value = 1, source = 77, target = 0;
    void *arguments[] = {&memory, &value};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t kernel, up, down, fill, host;
    cudaKernelNodeParams given = {}, found = {};
    cudaMemsetParams fill_given = {};
    cudaHostNodeParams host_given = {add_one, &calls};

    printf("# nodes, 3 launches\n");
    given.func = (void *)step;
    given.gridDim = dim3(2);
    given.blockDim = dim3(32);
    given.kernelParams = arguments;
    fill_given.dst = memory;
    fill_given.elementSize = 4;
    fill_given.width = 4;
    fill_given.height = 1;
    SUCCEED(cudaGraphCreate(&graph, 0));
    SUCCEED(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &given));
    SUCCEED(cudaGraphAddMemcpyNodeToSymbol(&up, graph, nullptr, 0, number, &source, sizeof(source), 0,
                                           cudaMemcpyHostToDevice));
    SUCCEED(cudaGraphAddMemcpyNodeFromSymbol(&down, graph, &up, 1, &target, number, sizeof(target), 0,
                                             cudaMemcpyDeviceToHost));
    SUCCEED(cudaGraphAddMemsetNode(&fill, graph, &kernel, 1, &fill_given));
    SUCCEED(cudaGraphAddHostNode(&host, graph, &down, 1, &host_given));
    SUCCEED(cudaGraphKernelNodeGetParams(kernel, &found));
    CHECK(found.func == (void *)step && found.gridDim.x == 2);
    SUCCEED(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        SUCCEED(cudaGraphLaunch(exec, 0));
    }
    SUCCEED(cudaDeviceSynchronize());
    CHECK(target == 77);
    CHECK(calls == 3);

    printf("# parameters changed, 2 launches\n");
    given.gridDim = dim3(3);
    SUCCEED(cudaGraphExecKernelNodeSetParams(exec, kernel, &given));
    for (int i = 0; i < 2; i++) {
        SUCCEED(cudaGraphLaunch(exec, 0));
    }
    given.func = (void *)&given;
    EXPECT(cudaErrorInvalidDeviceFunction, cudaGraphExecKernelNodeSetParams(exec, kernel, &given));
    EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
    SUCCEED(cudaDeviceSynchronize());
    launched("step", 2, 32, 0, 3, 3);
    launched("step", 3, 32, 0, 2, 2);
    SUCCEED(cudaGraphExecDestroy(exec));
    SUCCEED(cudaGraphDestroy(graph));
}

static cudaGraph_t captured(cudaStream_t stream, int *memory, unsigned blocks)
{
    cudaGraph_t graph = nullptr;
    SUCCEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    step<<<blocks, 32, 0, stream>>>(memory, 1);
    SUCCEED(cudaMemsetAsync(memory, 0, 64, stream));
    step<<<blocks, 32, 0, stream>>>(memory, 2);
    SUCCEED(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static void capture(int *memory)
{
    cudaStream_t stream;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphNode_t list[4];
    size_t count = 4;

    printf("# capture and update\n");
    SUCCEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaGraph_t graph = captured(stream, memory, 4), larger = captured(stream, memory, 5);
    SUCCEED(cudaGraphInstantiate(&exec, graph, 0));
    SUCCEED(cudaGraphLaunch(exec, stream));
    SUCCEED(cudaGraphExecUpdate(exec, larger, &info));
    CHECK(info.result == 0);
    SUCCEED(cudaGraphLaunch(exec, stream));
    SUCCEED(cudaGraphGetNodes(graph, list, &count));
    CHECK(count == 3);
    SUCCEED(cudaGraphNodeSetEnabled(exec, list[0], 0));
    SUCCEED(cudaGraphLaunch(exec, stream));
    SUCCEED(cudaStreamSynchronize(stream));
    launched("step", 4, 32, 0, 2, 2);
    launched("step", 5, 32, 0, 3, 3);

    SUCCEED(cudaGraphDestroy(graph));

    printf("# a call that breaks a capture\n");
    int *other = nullptr;
    SUCCEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorStreamCaptureUnsupported, cudaMalloc(&other, 64));
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    CHECK(graph == nullptr);
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaGetLastError());
    SUCCEED(cudaGraphExecDestroy(exec));
    SUCCEED(cudaGraphDestroy(larger));
}

static void any_node(int *memory)
{
    int value = 1;
    void *arguments[] = {&memory, &value};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, allocation;
    cudaGraphNodeParams given = {cudaGraphNodeTypeKernel}, memory_given = {cudaGraphNodeTypeMemAlloc};

    printf("# nodes of any kind\n");
    given.kernel.func = (void *)step;
    given.kernel.gridDim = dim3(6);
    given.kernel.blockDim = dim3(32);
    given.kernel.kernelParams = arguments;
    memory_given.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    memory_given.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    memory_given.alloc.bytesize = 256;
    SUCCEED(cudaGraphCreate(&graph, 0));
    SUCCEED(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &given));
    SUCCEED(cudaGraphAddNode(&allocation, graph, &node, nullptr, 1, &memory_given));
    CHECK(memory_given.alloc.dptr != nullptr);
    SUCCEED(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    SUCCEED(cudaGraphLaunch(exec, 0));
    given.kernel.gridDim = dim3(7);
    SUCCEED(cudaGraphExecNodeSetParams(exec, node, &given));
    SUCCEED(cudaGraphLaunch(exec, 0));
    SUCCEED(cudaDeviceSynchronize());
    launched("step", 6, 32, 0, 1, 1);
    launched("step", 7, 32, 0, 1, 1);
    SUCCEED(cudaFree(memory_given.alloc.dptr));
    SUCCEED(cudaGraphExecDestroy(exec));
    SUCCEED(cudaGraphDestroy(graph));
}

int main()
{
    int *memory = nullptr;
    SUCCEED(cudaMalloc(&memory, 4096));
    nodes(memory);
    capture(memory);
    any_node(memory);
    return conformance::end();
}
