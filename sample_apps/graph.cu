// A step of three kernels on two streams is captured once and replayed 1,000 times. Capturing launches
// nothing; each replay launches all three. After 600 replays an update gives the step more blocks.
#include "sample.h"

extern "C" __global__ void produce(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

extern "C" __global__ void consume(float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += x[i];
}

static const int threads = 128;

// The second stream joins the capture through an event and must come back to the first.
static cudaGraph_t capture_step(float *x, float *y, float *z, int blocks)
{
    cudaStream_t main_stream, side_stream;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    CHECK(cudaStreamCreate(&main_stream));
    CHECK(cudaStreamCreate(&side_stream));
    CHECK(cudaEventCreate(&forked));
    CHECK(cudaEventCreate(&joined));

    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    produce<<<blocks, threads, 0, main_stream>>>(x);
    CHECK(cudaEventRecord(forked, main_stream));
    CHECK(cudaStreamWaitEvent(side_stream, forked, 0));
    consume<<<blocks, threads, 0, main_stream>>>(x, y);
    consume<<<2 * blocks, threads, 0, side_stream>>>(x, z);
    CHECK(cudaEventRecord(joined, side_stream));
    CHECK(cudaStreamWaitEvent(main_stream, joined, 0));
    CHECK(cudaStreamEndCapture(main_stream, &graph));

    CHECK(cudaEventDestroy(forked));
    CHECK(cudaEventDestroy(joined));
    CHECK(cudaStreamDestroy(main_stream));
    CHECK(cudaStreamDestroy(side_stream));
    return graph;
}

static void replay(cudaGraphExec_t step, int blocks, int times)
{
    const dim3 one(1, 1, 1);
    for (int i = 0; i < times; i++) {
        CHECK(cudaGraphLaunch(step, 0));
    }
    print_launch("produce", blocks, threads, one, 0, times, times);
    print_launch("consume", blocks, threads, one, 0, times, times);
    print_launch("consume", 2 * blocks, threads, one, 0, times, times);
}

int main()
{
    const int few_blocks = 8, more_blocks = 64;
    float *x = device_floats(2 * more_blocks * threads), *y = device_floats(2 * more_blocks * threads),
          *z = device_floats(2 * more_blocks * threads);
    cudaGraphExec_t step;
    cudaGraphExecUpdateResultInfo result;

    cudaGraph_t graph = capture_step(x, y, z, few_blocks);
    CHECK(cudaGraphInstantiate(&step, graph, 0));
    replay(step, few_blocks, 600);

    cudaGraph_t larger = capture_step(x, y, z, more_blocks);
    CHECK(cudaGraphExecUpdate(step, larger, &result));
    replay(step, more_blocks, 400);

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(step));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(larger));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(z));
    return 0;
}
