/* A program that profiles itself with CUPTI as torch.profiler does: subscribes, registers buffers, asks for
 * kernel records, and gives all back. Prints what each step answered and how many kernels were recorded. Run
 * by test_other_profilers.py under the preload, on the simulated driver and the stub libcupti.
 *
 * other_profiler FATBIN linked|looked-up first|later BEFORE WITHIN AFTER   launches before, within and after
 * its profile; first: it subscribes before it has loaded any code. */
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiActivityRegisterCallbacks) register_buffers;
    __typeof__(&cuptiActivityEnable) enable;
    __typeof__(&cuptiActivityDisable) disable;
    __typeof__(&cuptiActivityFlushAll) flush;
    __typeof__(&cuptiActivityGetNextRecord) next_record;
} cupti = {cuptiSubscribe,       cuptiUnsubscribe,      cuptiActivityRegisterCallbacks, cuptiActivityEnable,
           cuptiActivityDisable, cuptiActivityFlushAll, cuptiActivityGetNextRecord};

static uint8_t own_buffer[1 << 20];
static int kernels, foreign_buffers;
static CUfunction function;
static CUdeviceptr memory;

static void check(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS) {
        printf("%s answered %d\n", what, (int)result);
        exit(1);
    }
}

static void look_up_cupti(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    *(void **)&cupti.subscribe = dlsym(library, "cuptiSubscribe");
    *(void **)&cupti.register_buffers = dlsym(library, "cuptiActivityRegisterCallbacks");
}

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user, (void)domain, (void)id, (void)data;
}

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *records)
{
    *buffer = own_buffer;
    *size = sizeof own_buffer;
    *records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                      size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    foreign_buffers += buffer != own_buffer;
    while (cupti.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
        kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    }
}

static CUpti_SubscriberHandle begin(void)
{
    CUpti_SubscriberHandle subscriber = NULL;
    printf("subscribe %d\n", (int)cupti.subscribe(&subscriber, called, NULL));
    printf("register %d\n", (int)cupti.register_buffers(buffer_requested, buffer_completed));
    printf("enable %d\n", (int)cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    return subscriber;
}

static void end(CUpti_SubscriberHandle subscriber)
{
    cupti.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    cupti.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    printf("unsubscribe %d\n", (int)cupti.unsubscribe(subscriber));
}

static void launch(const char *count)
{
    float factor = 1;
    void *parameters[] = {&memory, &factor};
    for (int i = atoi(count); i > 0; i--) {
        check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL), "cuLaunchKernel");
    }
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUpti_SubscriberHandle subscriber = NULL;
    if (argc != 7) {
        return 2;
    }
    if (strcmp(argv[2], "looked-up") == 0) {
        look_up_cupti();
    }
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    bool first = strcmp(argv[3], "first") == 0;
    if (first) {
        subscriber = begin();
    }
    check(cuModuleLoad(&module, argv[1]), "cuModuleLoad");
    check(cuModuleGetFunction(&function, module, "scale"), "cuModuleGetFunction");
    check(cuMemAlloc(&memory, 32 * sizeof(float)), "cuMemAlloc");
    launch(argv[4]);
    if (!first) {
        subscriber = begin();
    }
    launch(argv[5]);
    end(subscriber);
    launch(argv[6]);
    printf("kernels %d, foreign buffers %d\n", kernels, foreign_buffers);
    return 0;
}
