// Devices, memory in its kinds, copies and fills, device variables, streams, events, driver entry points.
#include "runtime.h"

#include <cuda.h>

__device__ int counter = 7;
__constant__ float table[4] = {1, 2, 3, 4};
__managed__ int shared_number = 5;

__global__ void touch()
{
    counter += (int)table[1] + shared_number;
}

static void devices()
{
    int count = 0, device = -1, value = 0, runtime = 0, driver = 0;
    cudaDeviceProp properties;

    printf("# devices\n");
    SUCCEED(cudaGetDeviceCount(&count));
    CHECK(count >= 1);
    SUCCEED(cudaGetDevice(&device));
    CHECK(device == 0);
    EXPECT(cudaErrorInvalidDevice, cudaSetDevice(count));
    SUCCEED(cudaSetDevice(0));
    SUCCEED(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.name[0] != '\0' && properties.major >= 7 && properties.warpSize == 32);
    SUCCEED(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK(value == properties.multiProcessorCount && value > 0);
    EXPECT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, count));
    SUCCEED(cudaRuntimeGetVersion(&runtime));
    SUCCEED(cudaDriverGetVersion(&driver));
    CHECK(runtime / 1000 == 13 && driver >= runtime);
}

static void memory()
{
    char *device = nullptr, *host = nullptr, *managed = nullptr, *pooled = nullptr, plain[64];
    size_t pitch = 0, free_bytes = 0, total = 0;
    cudaPointerAttributes attributes;

    printf("# memory\n");
    SUCCEED(cudaMalloc(&device, 0));
    CHECK(device == nullptr);
    SUCCEED(cudaMalloc(&device, 4096));
    SUCCEED(cudaMallocHost(&host, 4096));
    SUCCEED(cudaMallocManaged(&managed, 4096));
    SUCCEED(cudaMallocAsync(&pooled, 4096, 0));
    SUCCEED(cudaMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes < total);
    SUCCEED(cudaPointerGetAttributes(&attributes, device));
    CHECK(attributes.type == 2);
    SUCCEED(cudaPointerGetAttributes(&attributes, host));
    CHECK(attributes.type == 1);
    SUCCEED(cudaPointerGetAttributes(&attributes, managed));
    CHECK(attributes.type == 3);
    SUCCEED(cudaPointerGetAttributes(&attributes, plain));
    CHECK(attributes.type == 0);

    printf("# copies and fills\n");
    SUCCEED(cudaMemset(device, 3, 64));
    SUCCEED(cudaMemcpy(host, device, 64, cudaMemcpyDeviceToHost));
    CHECK(host[63] == 3);
    strcpy(plain, "there and back");
    SUCCEED(cudaMemcpy(device, plain, sizeof(plain), cudaMemcpyHostToDevice));
    SUCCEED(cudaMemcpy(pooled, device, sizeof(plain), cudaMemcpyDeviceToDevice));
    SUCCEED(cudaMemcpy(host, pooled, sizeof(plain), cudaMemcpyDefault));
    CHECK(strcmp(host, plain) == 0);
    EXPECT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(host, plain, 4, (cudaMemcpyKind)9));
    SUCCEED(cudaMemcpy2D(device, 100, plain, 4, 4, 3, cudaMemcpyHostToDevice));
    SUCCEED(cudaMemcpy(host, device + 200, 4, cudaMemcpyDeviceToHost));
    CHECK(memcmp(host, plain + 8, 4) == 0);
    EXPECT(cudaErrorInvalidPitchValue, cudaMemcpy2D(device, 2, plain, 4, 4, 3, cudaMemcpyHostToDevice));
    SUCCEED(cudaFree(device));
    SUCCEED(cudaMallocPitch(&device, &pitch, 100, 10));
    CHECK(pitch >= 100);
    SUCCEED(cudaMemset2D(device, pitch, 5, 100, 10));
    SUCCEED(cudaFree(device));
    EXPECT(cudaErrorInvalidValue, cudaFree(device));
    SUCCEED(cudaFreeHost(host));
    SUCCEED(cudaFree(managed));
    SUCCEED(cudaFreeAsync(pooled, 0));
    SUCCEED(cudaFree(nullptr));
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
    SUCCEED(cudaGetLastError());
}

static void variables()
{
    int number = 0;
    size_t bytes = 0;
    void *address = nullptr;
    float floats[4] = {9, 8, 7, 6};

    printf("# device variables\n");
    SUCCEED(cudaMemcpyFromSymbol(&number, counter, sizeof(number)));
    CHECK(number == 7);
    number = 40;
    SUCCEED(cudaMemcpyToSymbol(counter, &number, sizeof(number)));
    SUCCEED(cudaGetSymbolAddress(&address, counter));
    SUCCEED(cudaGetSymbolSize(&bytes, table));
    CHECK(bytes == 16);
    number = 0;
    SUCCEED(cudaMemcpy(&number, address, sizeof(number), cudaMemcpyDeviceToHost));
    CHECK(number == 40);
    SUCCEED(cudaMemcpyToSymbol(table, floats, sizeof(float), 3 * sizeof(float)));
    EXPECT(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, floats, sizeof(floats), sizeof(float)));
    EXPECT(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, number));
    CHECK(shared_number == 5);
    shared_number = 6;
    SUCCEED(cudaGetSymbolAddress(&address, shared_number));
    CHECK(address == &shared_number);
}

static void CUDART_CB add_one(void *data)
{
    ++*(int *)data;
}

static void CUDART_CB callback(cudaStream_t, cudaError_t status, void *data)
{
    *(int *)data += status == cudaSuccess ? 10 : 0;
}

static void streams()
{
    static int number;
    cudaStream_t stream = nullptr, other = nullptr;
    cudaEvent_t start, stop;
    int least = 1, greatest = 1, priority = 99;
    unsigned flags = 99;
    float milliseconds = -1;

    printf("# streams and events\n");
    SUCCEED(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest <= least);
    SUCCEED(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    SUCCEED(cudaStreamGetPriority(stream, &priority));
    CHECK(priority == greatest);
    SUCCEED(cudaStreamGetFlags(stream, &flags));
    CHECK(flags == 1);
    SUCCEED(cudaStreamCreate(&other));
    SUCCEED(cudaEventCreate(&start));
    SUCCEED(cudaEventCreate(&stop));
    EXPECT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, stop));
    SUCCEED(cudaEventRecord(start, stream));
    SUCCEED(cudaLaunchHostFunc(stream, add_one, &number));
    SUCCEED(cudaStreamAddCallback(stream, callback, &number, 0));
    SUCCEED(cudaEventRecord(stop, stream));
    SUCCEED(cudaStreamWaitEvent(other, stop, 0));
    SUCCEED(cudaStreamSynchronize(other));
    SUCCEED(cudaStreamSynchronize(stream));
    CHECK(number == 11);
    SUCCEED(cudaEventQuery(stop));
    SUCCEED(cudaStreamSynchronize(stream));
    SUCCEED(cudaStreamQuery(stream));
    SUCCEED(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(milliseconds >= 0);
    SUCCEED(cudaEventDestroy(start));
    SUCCEED(cudaEventDestroy(stop));
    SUCCEED(cudaStreamDestroy(stream));
    SUCCEED(cudaStreamDestroy(other));
    SUCCEED(cudaDeviceSynchronize());
}

static void entry_points()
{
    void *legacy = nullptr, *per_thread = nullptr, *none = (void *)1;
    cudaDriverEntryPointQueryResult status;

    printf("# driver entry points\n");
    SUCCEED(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &legacy, 12000, cudaEnableDefault, &status));
    CHECK(status == 0);
    SUCCEED(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &per_thread, 12000,
                                             cudaEnablePerThreadDefaultStream, &status));
    CHECK(legacy != nullptr && per_thread != nullptr && legacy != per_thread);
    SUCCEED(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &none, 12000, cudaEnableDefault, &status));
    CHECK(status == 1);
    CHECK(none == nullptr);
}

static void contexts()
{
    CUcontext current = nullptr;
    int *memory = nullptr;
    typedef CUresult get_current(CUcontext *);
    void *function = nullptr;
    cudaDriverEntryPointQueryResult status;

    printf("# the primary context, before and after a reset\n");
    cudaGetLastError();
    SUCCEED(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 4000, cudaEnableDefault, &status));
    ((get_current *)function)(&current);
    CHECK(current != nullptr);
    touch<<<1, 1>>>();
    SUCCEED(cudaDeviceReset());
    SUCCEED(cudaMalloc(&memory, 64));
    touch<<<2, 1>>>();
    SUCCEED(cudaGetLastError());
    SUCCEED(cudaDeviceSynchronize());
    launched("_Z5touchv", 1, 1, 0, 1);
    launched("_Z5touchv", 2, 1, 0, 1);
}

int main()
{
    devices();
    memory();
    variables();
    streams();
    entry_points();
    contexts();
    return conformance::end();
}
