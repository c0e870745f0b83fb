/* The CUPTI plugin with a made-up shim around it: opens it, puts it around some launches, prints what it
 * measured and what it complained of. Run by test_cupti_plugin.py with the stub libcupti and a script of
 * failures. cupti_scenario timing|counters|both LAUNCHES   of each of four configurations: 0 and 1 plain, 2
 * named like NCCL's, 3 only ever captured */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cupti/plugin.h"

#define CONFIGURATIONS 4

static struct store_measurement measurements[CONFIGURATIONS];

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

static const struct store_configuration *configuration(uint32_t index)
{
    static struct store_configuration records[CONFIGURATIONS];
    return &records[index];
}

static const char *kernel_name(uint32_t index)
{
    return index == 2 ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL" : "saxpy";
}

static void complain(const char *line)
{
    printf("complaint %s\n", line);
}

static void set_feature(uint64_t bits)
{
    printf("feature %s\n", bits == STORE_FEATURE_COUNTERS ? "counters"
                           : bits == STORE_FEATURE_TIMING ? "timing"
                                                          : "?");
}

/* The stub counts what the simulated driver launches; here is none, so this program stands in for it. */
static void (*launch_observer)(const char *);
__attribute__((visibility("default"))) void simcuda_set_launch_observer(void (*observer)(const char *));
void simcuda_set_launch_observer(void (*observer)(const char *))
{
    launch_observer = observer;
}

static void launch(const struct plugin_hooks *hooks, uint32_t index, uint32_t body, bool capturing)
{
    const struct plugin_launch request = {.configuration = index, .body = body, .capturing = capturing};
    uint64_t token = hooks && hooks->before ? hooks->before(&request) : 0;
    if (launch_observer && !capturing) {
        launch_observer(body == STORE_NO_TARGET ? kernel_name(index) : "node");
    }
    if (token && hooks->after) {
        hooks->after(&request, token, CUDA_SUCCESS);
    }
}

static void print_measurements(void)
{
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
        launch(hooks, 0, STORE_NO_TARGET, false);
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
    const struct plugin_services services = {
        .version = PLUGIN_VERSION,
        .settings = {.timing = strcmp(what, "counters") != 0, .counters = strcmp(what, "timing") != 0},
        .library_open = dlopen,
        .library_symbol = dlsym,
        .driver_symbol = driver_symbol,
        .measurement = measurement,
        .configuration = configuration,
        .kernel_name = kernel_name,
        .complain = complain,
        .set_feature = set_feature};
    const struct plugin_hooks *hooks = warpwatch_plugin_open(&services);
    for (int i = 0; i < count; i++) {
        for (uint32_t c = 0; c < CONFIGURATIONS; c++) {
            launch(hooks, c, STORE_NO_TARGET, c == 3);
        }
        launch(hooks, STORE_NO_TARGET, 0, false);
    }
    launch_in_child(hooks);
    if (hooks && hooks->context_ending) {
        hooks->context_ending((CUcontext)0x1000);
    }
    print_measurements();
    return 0;
}
