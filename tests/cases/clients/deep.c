/* A library that is opened with RTLD_DEEPBIND: its references go to libcuda past everything that is
 * preloaded. */
#include "client.h"

void deep_launch(void);
void deep_launch(void)
{
    CUcontext context;
    CUdeviceptr memory;
    CUfunction scale;
    client_open(&context, &memory, &scale);
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(cuLaunchKernel(scale, 12, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
    printf("launched\n");
}
