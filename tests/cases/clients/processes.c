/* Ways in which processes begin, multiply and end. Finds the driver as the runtime does. The second argument
 * is for the scenario. */
#include "client.h"

#include <libgen.h>
#include <limits.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static __typeof__(&cuLaunchKernel) launch_kernel;
static CUfunction scale;
static CUdeviceptr memory;
static const char *extra = "";

static void *driver(const char *name)
{
    static void *library;
    library = library ? library : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *function = library ? dlsym(library, name) : NULL;
    if (function == NULL) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return function;
}
#define DRIVER(name) ((__typeof__(&name))driver(#name))

static void open_device(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(DRIVER(cuInit)(0));
    CHECK(DRIVER(cuDeviceGet)(&device, 0));
    CHECK(DRIVER(cuCtxCreate_v2)(&context, 0, device));
    CHECK(DRIVER(cuMemAlloc_v2)(&memory, 1 << 20));
    CHECK(DRIVER(cuModuleLoad)(&module, client_image()));
    CHECK(DRIVER(cuModuleGetFunction)(&scale, module, "scale"));
    launch_kernel = DRIVER(cuLaunchKernel);
}

static CUresult launch(unsigned grid)
{
    float factor = 2;
    void *values[] = {&memory, &factor};
    return launch_kernel(scale, grid, 1, 1, 64, 1, 1, 0, NULL, values, NULL);
}

static void launches(unsigned grid, int times)
{
    for (int i = 0; i < times; i++) {
        CHECK(launch(grid));
    }
}

static void end_by(void)
{
    open_device();
    launches(1, 1000);
    launches(2, 10);
    if (strcmp(extra, "_exit") == 0) {
        _exit(3);
    } else if (strcmp(extra, "return") == 0) {
        exit(3);
    } else if (strcmp(extra, "segv") == 0) {
        volatile int *nowhere = *(int *volatile *)&(int *){NULL};
        *nowhere = 1;
    } else if (strcmp(extra, "abort") == 0) {
        abort();
    }
    raise(strcmp(extra, "kill") == 0 ? SIGKILL : SIGTERM);
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void fork_idle(void)
{
    open_device();
    launches(1, 5);
    pid_t child = fork();
    if (child == 0) {
        exit(7);
    }
    printf("child %d\n", wait_for(child));
    launches(1, 5);
}

static void fork_first(void)
{
    driver("cuInit");
    pid_t child = fork();
    open_device();
    launches(child ? 1 : 2, child ? 4 : 3);
    if (child == 0) {
        exit(0);
    }
    printf("child %d\n", wait_for(child));
    launches(1, 4);
}

/* The child of a process that has initialised CUDA is refused by the driver. */
static void fork_after(void)
{
    open_device();
    launches(1, 5);
    pid_t child = fork();
    if (child == 0) {
        _exit(launch(2) != CUDA_SUCCESS ? 7 : 0);
    }
    printf("child %d\n", wait_for(child));
    launches(1, 5);
}

static void vfork_fails(void)
{
    open_device();
    launches(1, 5);
    for (int i = 0; i < 3; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/nonexistent/program", "program", (char *)NULL);
            _exit(127);
        }
        printf("child %d\n", wait_for(child));
        launches(1, 5);
    }
}

static void many_children(void)
{
    int sum = 0;
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            open_device();
            launches(1, 2);
            exit(i % 2 ? 0 : 1);
        }
        sum += wait_for(child);
    }
    printf("%d\n", sum);
}

/* Every descriptor that it does not know is closed, and their numbers are used for files of its own. */
static void close_all(void)
{
    open_device();
    launches(1, 1);
    for (int file = 3; file < 1024; file++) {
        close(file);
    }
    int own[600];
    for (int i = 0; i < 600; i++) {
        own[i] = open(extra, O_RDWR | O_CREAT | O_APPEND, 0600);
    }
    for (unsigned grid = 1; grid <= 3000; grid++) {
        launches(grid, 1);
    }
    printf("%ld bytes, %d\n", (long)lseek(own[0], 0, SEEK_END), own[599] >= 0);
}

/* Many different launches: the store has to grow. */
static void grow(void)
{
    open_device();
    for (unsigned grid = 1; grid <= 20000; grid++) {
        launches(grid, 1);
    }
    launches(1, 1000);
    printf("done\n");
}

static void remove_directory(void)
{
    open_device();
    launches(1, 1);
    char command[5000];
    snprintf(command, sizeof command, "rm -rf '%s'", extra);
    printf("%d\n", system(command));
    for (unsigned grid = 1; grid <= 3000; grid++) {
        launches(grid, 1);
    }
}

/* The output directory appears after the first launch. */
/* And the one above it. */
static void make_directory(void)
{
    char above[PATH_MAX];
    open_device();
    launches(1, 2);
    snprintf(above, sizeof above, "%s", extra);
    mkdir(dirname(above), 0700);
    printf("%s\n", mkdir(extra, 0700) == 0 ? "made" : "not made");
}

static void *thread_launches(void *context)
{
    CHECK(DRIVER(cuCtxSetCurrent)(context));
    launches(5, 2);
    return NULL;
}

/* Threads that come and go: their counters are taken over. */
static void short_threads(void)
{
    open_device();
    CUcontext context;
    CHECK(DRIVER(cuCtxGetCurrent)(&context));
    for (int i = 0; i < 500; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, thread_launches, context);
        pthread_join(thread, NULL);
    }
}

/* Launches for ever, in threads; someone else ends it. */
static unsigned shapes = 997;

static void *launch_for_ever(void *context)
{
    CHECK(DRIVER(cuCtxSetCurrent)(context));
    for (unsigned i = 0;; i++) {
        CHECK(launch(i % shapes + 1));
    }
    return NULL;
}

static void for_ever(void)
{
    CUcontext context;
    open_device();
    CHECK(DRIVER(cuCtxGetCurrent)(&context));
    puts("running");
    fflush(stdout);
    for (int i = 1; i < atoi(extra); i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, launch_for_ever, context);
    }
    launch_for_ever(context);
}

/* The same, and hardly a launch that was there before: the store grows all the time. */
static void grow_for_ever(void)
{
    shapes = 60000;
    for_ever();
}

/* A thread that someone has cancelled already makes the first launch, and the store grow, before it ends. */
static void *launch_cancelled(void *context)
{
    CHECK(DRIVER(cuCtxSetCurrent)(context));
    pthread_cancel(pthread_self());
    for (unsigned grid = 1; grid <= 3000; grid++) {
        CHECK(launch(grid));
    }
    pthread_testcancel();
    puts("not cancelled");
    return NULL;
}

static void cancelled(void)
{
    CUcontext context;
    pthread_t thread;
    void *end = NULL;
    open_device();
    CHECK(DRIVER(cuCtxGetCurrent)(&context));
    pthread_create(&thread, NULL, launch_cancelled, context);
    pthread_join(thread, &end);
    launches(3001, 2);
    puts(end == PTHREAD_CANCELED ? "cancelled" : "ended");
}

static void exec_another(void)
{
    open_device();
    launches(1, 5);
    fflush(stdout);
    execl("/proc/self/exe", "processes", "end_by", "return", (char *)NULL);
}

static const struct scenario scenarios[] = {
    {"end_by", end_by},
    {"fork_idle", fork_idle},
    {"fork_first", fork_first},
    {"fork_after", fork_after},
    {"vfork_fails", vfork_fails},
    {"many_children", many_children},
    {"close_all", close_all},
    {"grow", grow},
    {"remove_directory", remove_directory},
    {"make_directory", make_directory},
    {"short_threads", short_threads},
    {"for_ever", for_ever},
    {"grow_for_ever", grow_for_ever},
    {"exec_another", exec_another},
    {"cancelled", cancelled},
};

int main(int arguments, char **argument)
{
    extra = arguments > 2 ? argument[2] : "";
    return RUN_SCENARIO(scenarios, arguments, argument);
}
