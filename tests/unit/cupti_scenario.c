/* The CUPTI plugin with a made-up shim around it: opens it, puts it around some launches, prints what it
 * measured and what it complained of. Run by test_cupti_plugin.py with the stub libcupti and a script of
 * failures. cupti_scenario timing|nodes|counters|both LAUNCHES [yield|crowd|late]   of each of four
 * configurations: 0 and 1 plain, 2 named like NCCL's, 3 only ever captured; and of a graph that runs 0 twice
 * and 1 once. yield: another profiler comes after half of them. crowd: four threads launch (crowd,yield:
 * both). late: it has come before. */
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cupti/plugin.h"
#include "tests/simcuda/callbacks.h"
#include "tests/simcuda/observer.h"

#define CONFIGURATIONS 4
#define THREADS        4

static struct store_measurement measurements[CONFIGURATIONS], graph_measurement;

static CUresult fake_context(CUcontext *context)
{
    *context = (CUcontext)0x1000;
    return CUDA_SUCCESS;
}

static CUresult fake_device(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_version(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

static CUresult fake_create(CUevent *event, unsigned flags)
{
    static char events[256];
    static int made;
    (void)flags;
    *event = (CUevent)&events[made++ % 256];
    return CUDA_SUCCESS;
}

static CUresult fake_record(CUevent event, CUstream stream)
{
    (void)event, (void)stream;
    return CUDA_SUCCESS;
}

static CUresult fake_query(CUevent event)
{
    (void)event;
    return CUDA_SUCCESS;
}

static CUresult fake_elapsed(float *milliseconds, CUevent start, CUevent end)
{
    (void)start, (void)end;
    *milliseconds = 0.002f;
    return CUDA_SUCCESS;
}

static void *driver_symbol(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } symbols[] = {{"cuCtxGetCurrent", (void *)fake_context},    {"cuCtxGetDevice", (void *)fake_device},
                   {"cuDriverGetVersion", (void *)fake_version}, {"cuEventCreate", (void *)fake_create},
                   {"cuEventRecord", (void *)fake_record},       {"cuEventQuery", (void *)fake_query},
                   {"cuEventElapsedTime", (void *)fake_elapsed}};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (strcmp(symbols[i].name, name) == 0) {
            return symbols[i].function;
        }
    }
    return NULL;
}

static struct store_measurement *measurement(uint32_t configuration)
{
    measurements[configuration].configuration = configuration;
    return &measurements[configuration];
}

static struct store_measurement *body_measurement(uint32_t body)
{
    return body == 0 ? &graph_measurement : NULL;
}

static uint32_t body_configuration(uint32_t body, uint32_t place)
{
    return body == 0 && place < 2 ? place : STORE_NO_TARGET;
}

static const struct store_configuration *configuration(uint32_t index)
{
    static const struct store_configuration records[CONFIGURATIONS] = {
        {.grid = {1, 1, 1}, .block = {32, 1, 1}},
        {.grid = {2, 1, 1}, .block = {32, 1, 1}},
        {.grid = {3, 1, 1}, .block = {32, 1, 1}},
        {.grid = {4, 1, 1}, .block = {32, 1, 1}}};
    return &records[index];
}

static const char *kernel_name(uint32_t index)
{
    return index == 2 ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL" : "saxpy";
}

static void complain(const char *line)
{
    printf("complaint %s\n", line);
    fflush(stdout);
}

static void set_feature(uint64_t bits)
{
    printf("feature %s\n", bits == STORE_FEATURE_COUNTERS ? "counters"
                           : bits == STORE_FEATURE_TIMING ? "timing"
                                                          : "?");
}

/* The stub hears from the simulated driver of kernels and calls; here is none, so this program stands in for
 * it. */
static _Atomic(launch_observer *) observer;
static _Atomic(driver_call_listener *) listener;

void simcuda_set_launch_observer(launch_observer *launched)
{
    observer = launched;
}

void simcuda_set_call_listener(driver_call_listener *told)
{
    listener = told;
}

static void run(uint32_t index)
{
    const struct store_configuration *record = configuration(index);
    struct observed_launch launch = {.function = kernel_name(index)};
    memcpy(launch.grid, record->grid, sizeof launch.grid);
    memcpy(launch.block, record->block, sizeof launch.block);
    launch_observer *launched = observer;
    if (launched) {
        launched(&launch);
    }
}

static void replay(void)
{
    struct driver_call call = {.id = CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, .function = "cuGraphLaunch"};
    driver_call_listener *told = listener;
    if (told) {
        told(&call);
    }
    run(0), run(1), run(0);
    call.ended = true;
    if (told) {
        told(&call);
    }
}

/* `known`: the shim has seen its like before. */
static void launch(const struct plugin_hooks *hooks, uint32_t index, bool known)
{
    bool graph = index == STORE_NO_TARGET;
    struct plugin_launch request = {.configuration = known ? index : STORE_NO_TARGET,
                                    .body = known && graph ? 0 : STORE_NO_TARGET,
                                    .is_graph = graph,
                                    .captures = index == 3};
    uint64_t token = hooks && hooks->before ? hooks->before(&request) : 0;
    if (graph) {
        replay();
    } else if (!request.captures) {
        run(index);
    }
    request.configuration = index;
    request.body = graph ? 0 : STORE_NO_TARGET;
    if (token && hooks->after) {
        hooks->after(&request, token, CUDA_SUCCESS);
    }
}

struct launches {
    const struct plugin_hooks *hooks;
    int count;
    bool yield;
};

static void *launch_all(void *opaque)
{
    const struct launches *launches = opaque;
    for (int i = 0; i < launches->count; i++) {
        if (launches->yield && i == launches->count / 2 && launches->hooks && launches->hooks->yield) {
            launches->hooks->yield();
        }
        for (uint32_t c = 0; c < CONFIGURATIONS; c++) {
            launch(launches->hooks, c, i > 0);
        }
        launch(launches->hooks, STORE_NO_TARGET, i > 0);
    }
    return NULL;
}

static void launch_in_crowd(struct launches *launches)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, launch_all, launches);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void print_measurements(void)
{
    printf("graph count=%llu median=%llu timing=%llu\n", (unsigned long long)graph_measurement.gpu_ns_count,
           (unsigned long long)graph_measurement.gpu_ns_median,
           (unsigned long long)graph_measurement.samples_timing);
    for (int i = 0; i < CONFIGURATIONS; i++) {
        const struct store_measurement *m = &measurements[i];
        printf("measured %d valid=%llx estimated=%d a=%llu b=%llu count=%llu median=%llu occupancy=%g "
               "lanes=%g branches=%g "
               "sectors=%g banks=%g\n",
               i, (unsigned long long)m->valid, (m->source & STORE_ESTIMATED) != 0,
               (unsigned long long)m->samples_a, (unsigned long long)m->samples_b,
               (unsigned long long)m->gpu_ns_count, (unsigned long long)m->gpu_ns_median,
               m->achieved_occupancy, m->lane_utilization, m->branch_efficiency, m->sectors_per_request,
               m->bank_conflicts_per_request);
    }
}

static void launch_in_child(const struct plugin_hooks *hooks)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (hooks && hooks->forked) {
            hooks->forked();
        }
        launch(hooks, 0, true);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "counters";
    int count = argc > 2 ? atoi(argv[2]) : 10;
    const char *how = argc > 3 ? argv[3] : "";
    const struct plugin_services services = {
        .settings = {.timing = strcmp(what, "counters") != 0,
                     .graph_nodes = strcmp(what, "nodes") == 0,
                     .counters = strcmp(what, "counters") == 0 || strcmp(what, "both") == 0,
                     .other_profiler = strcmp(how, "late") == 0},
        .library_open = dlopen,
        .library_symbol = dlsym,
        .driver_symbol = driver_symbol,
        .measurement = measurement,
        .body_measurement = body_measurement,
        .body_configuration = body_configuration,
        .configuration = configuration,
        .kernel_name = kernel_name,
        .complain = complain,
        .set_feature = set_feature};
    const struct plugin_hooks *hooks = warpwatch_plugin_open(&services);
    struct launches launches = {hooks, count, strstr(how, "yield") != NULL};
    if (strstr(how, "crowd")) {
        launch_in_crowd(&launches);
    } else {
        launch_all(&launches);
    }
    launch_in_child(hooks);
    if (hooks && hooks->context_ending) {
        hooks->context_ending((CUcontext)0x1000);
    }
    print_measurements();
    return 0;
}
