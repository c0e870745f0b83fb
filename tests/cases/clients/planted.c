/* Someone else was first: every name that the library could choose for its store, pointer file or report is
 * taken, by links, pipes and directories, before the first launch. The clock is this program's own, so the
 * names are known: planted stores|reports|pointers DIRECTORY VICTIM. */
#include "client.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 60 };
static const uint64_t base_ns = 1700000000000000000u;
static uint64_t asked;

/* Real time advances by one nanosecond with each question. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_REALTIME) {
        return (int)syscall(SYS_clock_gettime, clock, now);
    }
    uint64_t ns = base_ns + __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    *now = (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    return 0;
}

static void plant(const char *path, unsigned kind, const char *victim)
{
    char missing[4200];
    snprintf(missing, sizeof missing, "%s.missing", victim);
    int failure = kind == 0   ? symlink(victim, path)
                  : kind == 1 ? symlink(missing, path)
                  : kind == 2 ? link(victim, path)
                  : kind == 3 ? mkfifo(path, 0666)
                              : symlink("/dev/full", path);
    if (failure) {
        perror(path);
        exit(1);
    }
}

static void plant_all(const char *what, const char *directory, const char *victim)
{
    char host[64] = "", path[4400];
    gethostname(host, sizeof host - 1);
    bool reports = what[0] == 'r';
    for (unsigned i = 0; i < NAMES; i++) {
        /* Stores: what comes next is taken. Reports: all of it, behind a store whose own name is free. */
        snprintf(path, sizeof path, "%s/warpwatch.%s.%d.%llu.ww%s", directory, host, (int)getpid(),
                 (unsigned long long)base_ns + asked + i,
                 reports          ? ".txt"
                 : what[0] == 'p' ? ".live"
                                  : "");
        plant(path, i % 5, victim);
    }
}

int main(int arguments, char **argument)
{
    CUcontext context;
    CUfunction scale;
    CUdeviceptr memory;
    float factor = 2;
    void *values[] = {&memory, &factor};
    if (arguments < 4) {
        return 2;
    }
    client_open(&context, &memory, &scale);
    plant_all(argument[1], argument[2], argument[3]);
    for (unsigned grid = 1; grid <= 10; grid++) {
        CHECK(cuLaunchKernel(scale, grid, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
    }
    printf("done\n");
    return 0;
}
