/* Preloaded, it lets a program run through its main AGAIN times: counters measure no configuration on its
 * first launch, and the sample programs launch most of them once. */
#include <dlfcn.h>
#include <stdlib.h>

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void),
                           void *);

static main_function *program;

static int main_again(int argc, char **argv, char **environment)
{
    const char *again = getenv("AGAIN");
    int status = 0;
    for (int left = again ? atoi(again) : 1; left > 0 && status == 0; left--) {
        status = program(argc, argv, environment);
    }
    return status;
}

__attribute__((visibility("default"))) start_function __libc_start_main;
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    start_function *start = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return start(main_again, argc, argv, init, fini, rtld_fini, stack_end);
}
