/* Opens libcuda, calls cuInit and says what came of it. */
#include "client.h"

int main(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *launch = library ? dlsym(library, "cuLaunchKernel") : NULL;
    CUresult (*init)(unsigned) = library ? (CUresult(*)(unsigned))dlsym(library, "cuInit") : NULL;
    printf("%d, cuLaunchKernel in %s\n", init ? (int)init(0) : -1, library_of(launch));
    return 0;
}
