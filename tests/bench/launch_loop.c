/* Launches in a loop on the driver that does nothing, and prints nanoseconds of CPU time a launch:
 *   launch_loop [-n launches] [-c configurations] [-t threads] [-d kernel|ex|graph] [-p] [-u] [-l] [-m]
 * -p goes through the program's own reference, else through a looked-up pointer; -u has the kernel count
 * calls of cuLaunchKernel by a uprobe. -l prints latencies instead: median, 99th, 99.99th percentile and
 * maximum of single launches, in nanoseconds; -m the most memory that was resident, in bytes. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "uprobe.h"

enum { MOST_THREADS = 256 };

static __typeof__(&cuLaunchKernel) launch_kernel;
static __typeof__(&cuLaunchKernelEx) launch_ex;
static __typeof__(&cuGraphLaunch) launch_graph;
static unsigned long launches = 10000000;
static unsigned configurations = 1, threads = 1;
static const char *door = "kernel";
static bool linked, latencies, memory, uprobe;
static CUgraphExec exec;
static pthread_barrier_t all_launched; /* so that all threads live at once */

static double clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline void launch(unsigned grid)
{
    if (door[0] == 'k') {
        launch_kernel((CUfunction)0x1000, grid, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL);
    } else if (door[0] == 'e') {
        CUlaunchConfig config = {
            .gridDimX = grid, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 256, .blockDimY = 1, .blockDimZ = 1};
        launch_ex(&config, (CUfunction)0x1000, NULL, NULL);
    } else {
        launch_graph(exec, NULL);
    }
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void measure_latencies(void)
{
    float *ns = malloc(launches * sizeof *ns);
    for (unsigned long i = 0; i < launches; i++) {
        double start = clock_ns(CLOCK_MONOTONIC);
        launch((unsigned)(i % configurations) + 1);
        ns[i] = (float)(clock_ns(CLOCK_MONOTONIC) - start);
    }
    qsort(ns, launches, sizeof *ns, by_value);
    printf("%.0f %.0f %.0f %.0f\n", ns[launches / 2], ns[launches / 100 * 99], ns[launches / 10000 * 9999],
           ns[launches - 1]);
    free(ns);
}

static void *run(void *result)
{
    for (unsigned i = 0; i < configurations; i++) {
        launch(i + 1);
    }
    double start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    unsigned grid = 0;
    for (unsigned long i = 0; i < launches; i++) {
        launch(grid + 1);
        grid = grid + 1 == configurations ? 0 : grid + 1;
    }
    *(double *)result = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)launches;
    pthread_barrier_wait(&all_launched);
    return NULL;
}

static double measure_threads(void)
{
    pthread_t thread[MOST_THREADS];
    double result[MOST_THREADS], sum = 0;
    pthread_barrier_init(&all_launched, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        pthread_create(&thread[i], NULL, run, &result[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        sum += result[i];
    }
    return sum / threads;
}

static void print_memory(void)
{
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            printf("%lu\n", strtoul(line + 6, NULL, 10) * 1024);
        }
    }
    fclose(status);
}

static void find_functions(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    launch_kernel = linked ? cuLaunchKernel : (__typeof__(&cuLaunchKernel))dlsym(driver, "cuLaunchKernel");
    launch_ex = linked ? cuLaunchKernelEx : (__typeof__(&cuLaunchKernelEx))dlsym(driver, "cuLaunchKernelEx");
    launch_graph = linked ? cuGraphLaunch : (__typeof__(&cuGraphLaunch))dlsym(driver, "cuGraphLaunch");
    __typeof__(&cuGraphInstantiateWithFlags) instantiate =
        (__typeof__(&cuGraphInstantiateWithFlags))dlsym(driver, "cuGraphInstantiateWithFlags");
    cuInit(0);
    instantiate(&exec, (CUgraph)0x2000, 0);
}

static unsigned number(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

int main(int count, char **arguments)
{
    for (int option; (option = getopt(count, arguments, "n:c:t:d:pulm")) != -1;) {
        switch (option) {
        case 'n':
            launches = strtoul(optarg, NULL, 10);
            break;
        case 'c':
            configurations = number(optarg);
            break;
        case 't':
            threads = number(optarg) < MOST_THREADS ? number(optarg) : MOST_THREADS;
            break;
        case 'd':
            door = optarg;
            break;
        case 'p':
            linked = true;
            break;
        case 'u':
            uprobe = true;
            break;
        case 'l':
            latencies = true;
            break;
        case 'm':
            memory = true;
            break;
        default:
            return 2;
        }
    }
    find_functions();
    if (uprobe && !uprobe_attach((void *)launch_kernel)) {
        perror("uprobe");
        return 1;
    }
    if (latencies) {
        measure_latencies();
        return 0;
    }
    double ns = measure_threads();
    if (memory) {
        print_memory();
    } else {
        printf("%.2f\n", ns);
    }
    return 0;
}
