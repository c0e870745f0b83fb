/* Small libraries that programs have beside the driver, one for each macro. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(NEIGHBOUR_CUDNN)
int cudnnCreate(void);
int cudnnCreate(void)
{
    return 42;
}

#elif defined(NEIGHBOUR_STRANGER)
int cuLaunchKernel(void);
int cuLaunchKernel(void)
{
    return 43;
}

#elif defined(NEIGHBOUR_RUN_PATH)
/* Found only by this library's own RUNPATH, $ORIGIN. */
int open_neighbour(void);
int open_neighbour(void)
{
    void *library = dlopen("libneighbour.so", RTLD_NOW);
    int (*answer)(void) = library ? (int (*)(void))dlsym(library, "neighbour_answer") : NULL;
    return answer ? answer() : -2;
}

#elif defined(NEIGHBOUR_ANSWER)
int neighbour_answer(void);
int neighbour_answer(void)
{
    return 44;
}

#elif defined(NEIGHBOUR_NEXT_MALLOC)
/* What tcmalloc, jemalloc and many tools do; here again and again. */
int same_next_malloc(int times);
int same_next_malloc(int times)
{
    void *first = dlsym(RTLD_NEXT, "malloc");
    int same = 0;
    for (int i = 0; i < times; i++) {
        Dl_info info;
        void *next = dlsym(RTLD_NEXT, "malloc");
        same += next == first && dladdr(next, &info) && strstr(info.dli_fname, "libc.so") != NULL;
    }
    return same;
}

#elif defined(NEIGHBOUR_DLSYM)
/* Another interposer of dlsym, in C and with its own way to the real one. */
int dlsym_calls;
void *dlsym(void *library, const char *name)
{
    static void *(*real)(void *, const char *);
    if (real == NULL) {
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    }
    __atomic_fetch_add(&dlsym_calls, 1, __ATOMIC_RELAXED);
    return real(library, name);
}
__attribute__((destructor)) static void say(void)
{
    const char *file = getenv("DLSYM_CALLS");
    FILE *out = file ? fopen(file, "w") : NULL;
    if (out) {
        fprintf(out, "%d\n", dlsym_calls);
        fclose(out);
    }
}
#endif
