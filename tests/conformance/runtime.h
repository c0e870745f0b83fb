// For conformance programs in CUDA C++, built with nvcc -cudart shared: the checks of conformance.h, for the
// runtime.
#ifndef CONFORMANCE_RUNTIME_H
#define CONFORMANCE_RUNTIME_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_profiler_api.h>
#include <mutex>

namespace conformance
{
static std::mutex lock;
static int lines, failures;

static inline bool is_simulated()
{
    static cudaDeviceProp properties;
    static bool known = cudaGetDeviceProperties(&properties, 0) == cudaSuccess;
    return known && strstr(properties.name, "(simulated)") != nullptr;
}

static inline cudaError_t check_result(int line, const char *what, bool documented, cudaError_t result,
                                       cudaError_t expected)
{
    std::lock_guard<std::mutex> guard(lock);
    const char *kind = documented ? "" : " (unverified)";
    lines++;
    if (result == expected) {
        printf("ok %d - %s: %s%s\n", lines, what, cudaGetErrorName(result), kind);
    } else if (!documented && !is_simulated()) {
        printf("ok %d - %s: %s # differs from the simulated driver's %s\n", lines, what,
               cudaGetErrorName(result), cudaGetErrorName(expected));
    } else {
        failures++;
        printf("not ok %d - %s: %s, expected %s%s # line %d\n", lines, what, cudaGetErrorName(result),
               cudaGetErrorName(expected), kind, line);
    }
    return result;
}

static inline void check_condition(int line, const char *what, bool holds)
{
    std::lock_guard<std::mutex> guard(lock);
    lines++;
    failures += !holds;
    printf("%sok %d - %s # line %d\n", holds ? "" : "not ", lines, what, line);
}

// One line for a configuration that the program ran: `count` launches, `replayed` of them by graphs.
static inline void launched(const char *kernel, dim3 grid, dim3 block, size_t shared_bytes, unsigned count,
                            unsigned replayed = 0, dim3 cluster = dim3(1, 1, 1))
{
    printf("launch kernel=%s device=0 grid=%u,%u,%u block=%u,%u,%u cluster=%u,%u,%u shared=%zu count=%u "
           "replayed=%u\n",
           kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, cluster.x, cluster.y, cluster.z,
           shared_bytes, count, replayed);
}

static inline int end()
{
    printf("1..%d\n", lines);
    return failures != 0;
}
} // namespace conformance

using conformance::launched;

#define EXPECT(expected, ...) conformance::check_result(__LINE__, #__VA_ARGS__, true, __VA_ARGS__, expected)
#define GUESS(expected, ...)  conformance::check_result(__LINE__, #__VA_ARGS__, false, __VA_ARGS__, expected)
#define SUCCEED(...)          EXPECT(cudaSuccess, __VA_ARGS__)
#define CHECK(...)            conformance::check_condition(__LINE__, #__VA_ARGS__, __VA_ARGS__)

#endif
