/* Launches from two threads, in ever new shapes up to some hundred, until its standard input ends: something
 * to read while it is written. Prints "ready" after the first launches, and how many there were at the end.
 */
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static CUcontext context;
static CUfunction scale;
static CUdeviceptr memory;
static atomic_bool over;
static atomic_ulong launches;

static void *launch_on(void *opaque)
{
    unsigned first_shape = opaque ? 1 : 100001;
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; !over; i++) {
        unsigned shape = first_shape + i / 200 % 400;
        CHECK(cuLaunchKernel(scale, shape, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
        if (atomic_fetch_add(&launches, 1) == 0) {
            puts("ready");
            fflush(stdout);
        }
    }
    return NULL;
}

int main(void)
{
    CUdevice device;
    CUmodule module;
    pthread_t threads[2];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate_v2(&context, 0, device));
    CHECK(cuMemAlloc_v2(&memory, 64 << 20));
    CHECK(cuModuleLoad(&module, client_image()));
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, launch_on, i ? &over : NULL);
    }
    while (getchar() != EOF) {
    }
    over = true;
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("launches %lu\n", launches);
    return 0;
}
