/* Launches in a loop and prints nanoseconds per launch: launch_loop [launches [configurations [threads]]].
 * With LAUNCH_LOOP_PLT set the calls go through the PLT, else through a pointer from dlsym. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef CUresult launch_function(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, CUstream, void **, void **);

static launch_function *launch;
static unsigned long launches = 10000000;
static unsigned configurations = 1;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *run(void *result)
{
    for (unsigned i = 0; i < configurations; i++) {
        launch((CUfunction)0x1000, i + 1, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL);
    }
    double start = now_ns();
    unsigned grid = 0;
    for (unsigned long i = 0; i < launches; i++) {
        launch((CUfunction)0x1000, grid + 1, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL);
        grid = grid + 1 == configurations ? 0 : grid + 1;
    }
    *(double *)result = (now_ns() - start) / (double)launches;
    return NULL;
}

int main(int count, char **arguments)
{
    launches = count > 1 ? strtoul(arguments[1], NULL, 10) : launches;
    configurations = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : configurations;
    unsigned threads = count > 3 ? (unsigned)strtoul(arguments[3], NULL, 10) : 1;
    launch = getenv("LAUNCH_LOOP_PLT")
                 ? cuLaunchKernel
                 : (launch_function *)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");
    cuInit(0);
    pthread_t thread[256];
    double result[256], sum = 0;
    threads = threads < 256 ? threads : 256;
    for (unsigned i = 0; i < threads; i++) {
        pthread_create(&thread[i], NULL, run, &result[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        sum += result[i];
    }
    printf("%.2f\n", sum / threads);
    return 0;
}
