// Built with --default-stream per-thread: the default stream is each thread's own.
#include "runtime.h"

#include <thread>
#include <vector>

extern "C" __global__ void work(int *out, int value)
{
    out[0] = value;
}

static void CUDART_CB add_one(void *data)
{
    ++*(int *)data;
}

static void one_thread(unsigned index)
{
    int *memory = nullptr, number = 0, host = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    SUCCEED(cudaMalloc(&memory, 64));
    for (int i = 0; i < 50; i++) {
        work<<<index + 1, 32>>>(memory, i);
        SUCCEED(cudaGetLastError());
    }
    // The legacy stream could not be captured.
    SUCCEED(cudaStreamBeginCapture(0, cudaStreamCaptureModeThreadLocal));
    work<<<index + 1, 32>>>(memory, 0);
    SUCCEED(cudaMemsetAsync(memory, 9, 4, 0));
    SUCCEED(cudaLaunchHostFunc(0, add_one, &number));
    SUCCEED(cudaStreamEndCapture(0, &graph));
    SUCCEED(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 10; i++) {
        SUCCEED(cudaGraphLaunch(exec, 0));
    }
    SUCCEED(cudaMemcpy(&host, memory, 4, cudaMemcpyDeviceToHost));
    SUCCEED(cudaStreamSynchronize(0));
    CHECK(number == 10 && host == 0x09090909);
    SUCCEED(cudaGraphExecDestroy(exec));
    SUCCEED(cudaGraphDestroy(graph));
    SUCCEED(cudaFree(memory));
}

int main()
{
    std::vector<std::thread> threads;
    printf("# 8 threads, 50 launches and 10 replays each\n");
    for (unsigned i = 0; i < 8; i++) {
        threads.emplace_back(one_thread, i);
    }
    for (auto &thread : threads) {
        thread.join();
    }
    for (unsigned i = 0; i < 8; i++) {
        launched("work", i + 1, 32, 0, 60, 10);
    }
    return conformance::end();
}
