/* Linked with NVIDIA's static runtime: the same calls as foreign.c makes of a shared one. */
#include <stdio.h>

#define CALL(function)                                                                                       \
    do {                                                                                                     \
        extern int function(void *, int, void *);                                                            \
        printf("%s %d\n", #function, function(result, 1, NULL));                                             \
    } while (0)

int main(void)
{
    static char result[65536];
    CALL(cudaRuntimeGetVersion);
    CALL(cudaGetDeviceCount);
    CALL(cudaDeviceSynchronize);
    CALL(cudaGetLastError);
    return 0;
}
