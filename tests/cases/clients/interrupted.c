/* Threads that something interrupts while they launch: signal handlers that fork or launch, cancellation at
 * any instruction, processes that no fork handler sees. Prints what it launched and what came of it. */
#include "client.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHAPES = 60000, EVERY_US = 300, EVENTS = 300 };

static __typeof__(&cuLaunchKernel) launch_kernel;
static volatile unsigned long launched, events;

/* The driver that does nothing: it has no lock that a handler could meet. */
static void launch(unsigned grid)
{
    launch_kernel((CUfunction)0x1000, grid, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL);
    launched++;
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* Once: a handler that takes longer than this would let nothing else run. */
static void interrupt_soon(void)
{
    struct itimerval once = {{0, 0}, {0, EVERY_US}};
    setitimer(ITIMER_REAL, &once, NULL);
}

static void interrupt_by(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval never = {0};
    sigaction(SIGALRM, &action, NULL);
    interrupt_soon();
    for (unsigned i = 1; i < SHAPES || events < EVENTS; i++) {
        launch(i % (2 * SHAPES) + 1);
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

static void fork_now(int number)
{
    (void)number;
    int error = errno;
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    wait_for(child);
    events++;
    interrupt_soon();
    errno = error;
}

static void handler_forks(void)
{
    interrupt_by(fork_now);
    printf("launched %lu and 0\n", launched);
}

static volatile unsigned long by_handler;

static void launch_now(int number)
{
    (void)number;
    launch_kernel((CUfunction)0x1000, (unsigned)(3 * SHAPES + events), 1, 1, 256, 1, 1, 0, NULL, NULL, NULL);
    events++;
    by_handler++;
    interrupt_soon();
}

static void handler_launches(void)
{
    interrupt_by(launch_now);
    printf("launched %lu and %lu\n", launched, by_handler);
}

static void *launch_for_ever(void *nothing)
{
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    for (unsigned i = 1;; i++) {
        launch(i % SHAPES + 1);
    }
    return nothing;
}

/* Threads that end at any instruction, also of the library's. */
static void cancelled_anywhere(void)
{
    pthread_t thread;
    for (unsigned i = 0; i < EVENTS; i++) {
        unsigned long before = launched;
        pthread_create(&thread, NULL, launch_for_ever, NULL);
        while (launched < before + 7 * i) {
        }
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    launch(2 * SHAPES);
    printf("launched %lu and %d\n", launched, EVENTS);
}

/* Another thread may hold the library's lock just then. */
static void unseen_forks(void)
{
    pthread_t thread;
    unsigned failed = 0;
    for (unsigned i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, launch_for_ever, NULL);
    }
    for (unsigned i = 0; i < EVENTS / 3; i++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0) {
            alarm(20);
            for (unsigned grid = 1; grid <= 50; grid++) {
                launch(grid);
            }
            _exit(0);
        }
        failed += wait_for(child) != 0;
    }
    printf("failed %u\n", failed);
    fflush(stdout);
    _exit(0);
}

static const struct scenario scenarios[] = {
    {"handler_forks", handler_forks},
    {"handler_launches", handler_launches},
    {"cancelled_anywhere", cancelled_anywhere},
    {"unseen_forks", unseen_forks},
};

int main(int arguments, char **argument)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    launch_kernel = driver ? (__typeof__(launch_kernel))dlsym(driver, "cuLaunchKernel") : NULL;
    return launch_kernel ? RUN_SCENARIO(scenarios, arguments, argument) : 1;
}
