/* A launch is met while a stream is captured; when the capture is over somebody asks the driver about its
 * function, and at that very moment another thread ends what the function belongs to. Prints which came
 * first, the end or the answers. */
#include "client.h"

#include "../../simcuda/callbacks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static CUcontext first, owner;
static CUmodule module;
static CUlibrary library;
static const char *ending;

static pthread_t ender;
static _Atomic int ender_tid;
static _Atomic bool about_to_end, ended;
static bool waited;

static void *end_owner(void *unused)
{
    CHECK(cuCtxSetCurrent(owner));
    atomic_store(&ender_tid, (int)syscall(SYS_gettid));
    atomic_store(&about_to_end, true);
    if (library) {
        CHECK(cuLibraryUnload(library));
    } else if (module) {
        CHECK(cuModuleUnload(module));
    } else {
        CHECK(cuCtxDestroy_v2(owner));
    }
    atomic_store(&ended, true);
    return unused;
}

static bool is_asleep(int tid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    line[bytes] = '\0';
    const char *state = strrchr(line, ')');
    return state && state[1] == ' ' && state[2] == 'S';
}

/* Inside the first question. Nothing lets the other thread sleep on its way but a lock of whoever asks. */
static void asked(void)
{
    simcuda_set_query_listener(NULL);
    if (pthread_create(&ender, NULL, end_owner, NULL)) {
        exit(1);
    }
    while (!atomic_load(&about_to_end) || (!atomic_load(&ended) && !is_asleep(atomic_load(&ender_tid)))) {
        sched_yield();
    }
    waited = !atomic_load(&ended);
}

static void *load_scale(void)
{
    void *scale;
    if (strcmp(ending, "library") == 0) {
        CHECK(cuLibraryLoadFromFile(&library, client_image(), NULL, NULL, 0, NULL, NULL, 0));
        CHECK(cuLibraryGetKernel((CUkernel *)&scale, library, "scale"));
        return scale;
    }
    CHECK(cuModuleLoad(&module, client_image()));
    CHECK(cuModuleGetFunction((CUfunction *)&scale, module, "scale"));
    module = strcmp(ending, "context") ? module : NULL;
    return scale;
}

/* The stream that is captured is of a context that stays. */
static void launch_while_capturing(void *scale, CUdeviceptr memory)
{
    CUstream stream;
    CUgraph graph;
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(cuCtxSetCurrent(first));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuCtxSetCurrent(owner));
    CHECK(cuLaunchKernel(scale, 3, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
    simcuda_set_query_listener(asked);
    CHECK(cuCtxSetCurrent(first));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphDestroy(graph));
}

int main(int arguments, char **argument)
{
    CUdeviceptr memory;
    CUfunction unused;
    ending = arguments > 1 ? argument[1] : "";
    client_open(&first, &memory, &unused);
    CHECK(cuCtxCreate_v2(&owner, 0, 0));
    CHECK(cuMemAlloc_v2(&memory, 1 << 20));
    launch_while_capturing(load_scale(), memory);
    if (!atomic_load(&about_to_end)) {
        puts("nobody asked");
        return 0;
    }
    pthread_join(ender, NULL);
    puts(waited ? "the end waited for the answers" : "it ended while somebody asked");
    return 0;
}
