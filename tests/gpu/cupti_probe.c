/* Asks CUPTI on a GPU what no document says: what a launch costs while the range profiler is off, enabled,
 * and measuring with each set; whether SetConfig may change the set of an enabled profiler; whether activity
 * records may be asked for meanwhile. One line `name value` each; 77 without CUPTI or permission.
 *
 * cupti_probe FATBIN */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cupti/diagnose.h"
#include "cupti/session.h"

#define LAUNCHES 200

static struct cupti_api api;
static CUfunction function;
static CUdeviceptr memory;

static void fail(const char *what, int code)
{
    char line[512];
    diagnose_result(line, sizeof line, what, &api, (CUptiResult)code);
    fprintf(stderr, "cupti_probe: %s\n", line);
    exit(77);
}

static void check(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "cupti_probe: %s answered %d\n", what, (int)result);
        exit(1);
    }
}

static void launch(void)
{
    float factor = 1;
    void *parameters[] = {&memory, &factor};
    check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL), "cuLaunchKernel");
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void time_launches(const char *name)
{
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    double start = now_us();
    for (int i = 0; i < LAUNCHES; i++) {
        launch();
    }
    double made = now_us();
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    printf("launch_call_us_%s %.3f\nlaunch_done_us_%s %.3f\n", name, (made - start) / LAUNCHES, name,
           (now_us() - start) / LAUNCHES);
}

static void time_measured(struct session *session, enum metric_set set, const char *name)
{
    struct metric_values values;
    bool measured;
    int good = 0;
    double start = now_us();
    CUptiResult result = session_enable(&api, session, set);
    if (result) {
        fail(name, (int)result);
    }
    printf("enable_us_%s %.1f\n", name, now_us() - start);
    char idle[32];
    snprintf(idle, sizeof idle, "enabled_%s", name);
    time_launches(idle);
    start = now_us();
    for (int i = 0; i < LAUNCHES; i++) {
        result = session_start(&api, session);
        launch();
        result = result ? result : session_stop(&api, session, &values, &measured);
        if (result) {
            fail(name, (int)result);
        }
        good += measured;
    }
    printf("measured_us_%s %.1f\nmeasured_good_%s %d of %d\n", name, (now_us() - start) / LAUNCHES, name,
           good, LAUNCHES);
}

/* With set A enabled: may the same object be configured for set B? */
static void try_switch(struct session *session)
{
    const struct metric_plan *plan = &session->plans[METRIC_SET_B];
    double start = now_us();
    CUptiResult result = session_configure(&api, session, plan);
    printf("setconfig_while_enabled %d\nsetconfig_us %.1f\n", (int)result, now_us() - start);
}

static void try_activity(void)
{
    CUptiResult result = api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    printf("activity_while_enabled %d\n", (int)result);
    if (result == CUPTI_SUCCESS) {
        api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    }
}

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *records)
{
    *buffer = calloc(1, 1 << 20);
    *size = *buffer ? 1 << 20 : 0;
    *records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                      size_t valid)
{
    (void)context, (void)stream, (void)size, (void)valid;
    free(buffer);
}

int main(int argc, char **argv)
{
    static struct session session;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    int version;
    if (argc != 2) {
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was found stays, whatever ends the program */
    check(cuInit(0), "cuInit");
    check(cuDriverGetVersion(&version), "cuDriverGetVersion");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuModuleLoad(&module, argv[1]), "cuModuleLoad");
    check(cuModuleGetFunction(&function, module, "scale"), "cuModuleGetFunction");
    check(cuMemAlloc(&memory, 32 * sizeof(float)), "cuMemAlloc");
    const struct cupti_loader_services services = {(void *(*)(const char *, int))dlopen,
                                                   (void *(*)(void *, const char *))dlsym, version};
    if (!cupti_load(&services, &api) || !(api.parts & CUPTI_PART_COUNTERS)) {
        fprintf(stderr, "cupti_probe: no libcupti with the range profiler (last tried %s)\n", api.path);
        return 77;
    }
    printf("cupti %s\ncupti_version %u\n", api.path, api.version);
    time_launches("warm");
    time_launches("off");
    double start = now_us();
    CUptiResult result = session_open(&api, &session, context, device);
    if (result) {
        fail("session", (int)result);
    }
    printf("open_us %.1f\n", now_us() - start);
    time_measured(&session, METRIC_SET_B, "b");
    time_measured(&session, METRIC_SET_A, "a");
    try_switch(&session);
    api.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    try_activity();
    session_disable(&api, &session);
    time_launches("off_again");
    return 0;
}
