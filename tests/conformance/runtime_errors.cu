// The last error: what sets it, what clears it, and the errors of launches that cannot be.
#include "runtime.h"

#include <thread>

__global__ void __launch_bounds__(128) small_blocks(int *out)
{
    out[threadIdx.x] = 1;
}

__global__ void any_blocks(int *out)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = 1;
    out[threadIdx.x] = dynamic[0];
}

static void last_error()
{
    int device;

    printf("# the last error\n");
    SUCCEED(cudaGetLastError());
    EXPECT(cudaErrorInvalidDevice, cudaSetDevice(1000));
    SUCCEED(cudaGetDevice(&device));
    EXPECT(cudaErrorInvalidDevice, cudaPeekAtLastError());
    std::thread([] { SUCCEED(cudaPeekAtLastError()); }).join();
    EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
    SUCCEED(cudaGetLastError());
    CHECK(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    CHECK(strcmp(cudaGetErrorName((cudaError_t)123456), "unrecognized error code") == 0);
}

#define REFUSED(expected, ...)                                                                               \
    any_blocks<<<__VA_ARGS__>>>(memory);                                                                     \
    EXPECT(expected, cudaGetLastError())

static void impossible_launches(int *memory)
{
    printf("# launches that cannot be\n");
    REFUSED(cudaErrorInvalidConfiguration, 0, 32);
    REFUSED(cudaErrorInvalidConfiguration, 1, 0);
    REFUSED(cudaErrorInvalidConfiguration, 1, 1025);
    REFUSED(cudaErrorInvalidConfiguration, 1, dim3(1, 1, 65));
    REFUSED(cudaErrorInvalidConfiguration, dim3(1, 65536), 32);
    REFUSED(cudaErrorInvalidConfiguration, dim3(1, 1, 65536), 32);
    REFUSED(cudaErrorInvalidConfiguration, dim3(0x80000000u), 32);
    REFUSED(cudaErrorInvalidValue, 1, 32, 49153);
    REFUSED(cudaErrorInvalidValue, 1, 32, 1 << 20);
    small_blocks<<<1, 256>>>(memory);
    CHECK(cudaGetLastError() != cudaSuccess);
    GUESS(cudaErrorInvalidDeviceFunction,
          cudaLaunchKernel((const void *)0x10, dim3(1), dim3(1), nullptr, 0, nullptr));
    GUESS(cudaErrorInvalidDeviceFunction, cudaGetLastError());
}

static void shared_memory(int *memory)
{
    printf("# more shared memory than 48 KB takes an attribute\n");
    EXPECT(cudaErrorInvalidValue,
           cudaFuncSetAttribute(any_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    SUCCEED(cudaFuncSetAttribute(any_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
    any_blocks<<<1, 32, 60000>>>(memory);
    SUCCEED(cudaGetLastError());
    any_blocks<<<1, 32, 60001>>>(memory);
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
    SUCCEED(cudaDeviceSynchronize());
    launched("_Z10any_blocksPi", 1, 32, 60000, 1);
}

static void arguments()
{
    printf("# arguments\n");
    EXPECT(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 16));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(nullptr, nullptr, 16, cudaMemcpyHostToDevice));
    SUCCEED(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidValue, cudaGetSymbolAddress(nullptr, (const void *)0));
    EXPECT(cudaErrorInvalidValue, cudaFuncGetAttributes(nullptr, (const void *)any_blocks));
    EXPECT(cudaErrorInvalidValue, cudaDriverGetVersion(nullptr));
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

int main()
{
    int *memory = nullptr;
    last_error();
    SUCCEED(cudaMalloc(&memory, 1 << 16));
    impossible_launches(memory);
    shared_memory(memory);
    arguments();
    return conformance::end();
}
