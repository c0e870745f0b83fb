// Two devices: each thread's own choice, launches, copies between them, graphs on either. One device:
// skipped.
#include "runtime.h"

#include <thread>

extern "C" __global__ void work(int *out)
{
    out[threadIdx.x] = 1;
}

__device__ int per_device = 5;

static void launched_on(int device, unsigned blocks, unsigned count, unsigned replayed)
{
    printf(
        "launch kernel=work device=%d grid=%u,1,1 block=32,1,1 cluster=1,1,1 shared=0 count=%u replayed=%u\n",
        device, blocks, count, replayed);
}

static void choices()
{
    int device = -1;
    SUCCEED(cudaSetDevice(1));
    SUCCEED(cudaGetDevice(&device));
    CHECK(device == 1);
    std::thread([] {
        int own = -1;
        SUCCEED(cudaGetDevice(&own));
        CHECK(own == 0);
    }).join();
    SUCCEED(cudaSetDevice(0));
}

static void launches(int *memory[2])
{
    for (int device = 0; device < 2; device++) {
        SUCCEED(cudaSetDevice(device));
        work<<<device + 1, 32>>>(memory[device]);
        SUCCEED(cudaGetLastError());
        SUCCEED(cudaDeviceSynchronize());
        launched_on(device, device + 1, 1, 0);
    }
}

// A stream belongs to the device that was current when it was made.
static void streams()
{
    cudaStream_t stream;
    int device = -1;
    SUCCEED(cudaSetDevice(1));
    SUCCEED(cudaStreamCreate(&stream));
    SUCCEED(cudaSetDevice(0));
    SUCCEED(cudaStreamGetDevice(stream, &device));
    CHECK(device == 1);
    SUCCEED(cudaStreamSynchronize(stream));
    SUCCEED(cudaStreamDestroy(stream));
}

static void copies(int *memory[2])
{
    int value = 77, other = 0;
    cudaPointerAttributes attributes;
    SUCCEED(cudaPointerGetAttributes(&attributes, memory[1]));
    CHECK(attributes.device == 1);
    SUCCEED(cudaMemcpy(memory[0], &value, sizeof(value), cudaMemcpyHostToDevice));
    SUCCEED(cudaMemcpyPeer(memory[1], 1, memory[0], 0, sizeof(value)));
    SUCCEED(cudaMemcpy(&other, memory[1], sizeof(other), cudaMemcpyDeviceToHost));
    CHECK(other == 77);
}

// A variable has its own memory on each device.
static void variables()
{
    int value = 6, there = 0;
    SUCCEED(cudaSetDevice(0));
    SUCCEED(cudaMemcpyToSymbol(per_device, &value, sizeof(value)));
    SUCCEED(cudaSetDevice(1));
    SUCCEED(cudaMemcpyFromSymbol(&there, per_device, sizeof(there)));
    CHECK(there == 5);
}

static void graphs(int *memory[2])
{
    for (int device = 0; device < 2; device++) {
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        SUCCEED(cudaSetDevice(device));
        SUCCEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        SUCCEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        work<<<10, 32, 0, stream>>>(memory[device]);
        SUCCEED(cudaStreamEndCapture(stream, &graph));
        SUCCEED(cudaGraphInstantiate(&exec, graph, 0));
        SUCCEED(cudaGraphLaunch(exec, stream));
        SUCCEED(cudaGraphLaunch(exec, stream));
        SUCCEED(cudaStreamSynchronize(stream));
        SUCCEED(cudaGraphExecDestroy(exec));
        SUCCEED(cudaGraphDestroy(graph));
        SUCCEED(cudaStreamDestroy(stream));
        launched_on(device, 10, 2, 2);
    }
}

int main()
{
    int count = 0, *memory[2] = {};
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) {
        printf("1..0 # SKIP %d devices\n", count);
        return 77;
    }
    choices();
    for (int device = 0; device < 2; device++) {
        SUCCEED(cudaSetDevice(device));
        SUCCEED(cudaMalloc(&memory[device], 4096));
    }
    launches(memory);
    streams();
    copies(memory);
    variables();
    graphs(memory);
    return conformance::end();
}
