/* Launches through the program's own references to libcuda. The same source makes the program that is linked
 * against libcuda alone, and those that have a library with the same functions in between. */
#include "client.h"

int main(void)
{
    CUcontext context;
    CUfunction scale;
    CUdeviceptr memory;
    client_open(&context, &memory, &scale);
    float factor = 2;
    void *values[] = {&memory, &factor};
    for (int i = 0; i < 3; i++) {
        CHECK(cuLaunchKernel(scale, 11, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
    }
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxDestroy_v2(context));
    /* Who else was asked, of those that may stand in between. */
    static const char *const counters[] = {"wrapper_calls", "trampoline_calls", "second_preload_calls"};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        int *calls = dlsym(RTLD_DEFAULT, counters[i]);
        if (calls) {
            printf("%s %d\n", counters[i], *calls);
        }
    }
    return 0;
}
