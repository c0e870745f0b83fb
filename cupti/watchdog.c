/* The thread is made for the first measured launch and ends itself when none has come for a while. */
#include "cupti/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "cupti/plugin_state.h"

#define LOOK_NS     (100 * 1000000l)
#define IDLE_ROUNDS 50

static struct {
    _Atomic(const char *) kernel; /* NULL: none is being measured */
    atomic_ullong until_ns;
    _Atomic(void (*)(const char *)) late;
    atomic_bool alive;
} watchdog;

static void look(void)
{
    const char *kernel = atomic_load(&watchdog.kernel);
    if (kernel && plugin_now_ns() > atomic_load(&watchdog.until_ns) &&
        atomic_compare_exchange_strong(&watchdog.kernel, &kernel, NULL)) {
        atomic_load (&watchdog.late)(kernel);
    }
}

static void *watch(void *unused)
{
    for (int idle = 0; idle < IDLE_ROUNDS; idle++) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        if (atomic_load(&watchdog.kernel)) {
            idle = 0;
            look();
        }
    }
    atomic_store(&watchdog.alive, false);
    return unused;
}

/* Without the program's signals: they are for its own threads. */
static void start(void)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))plugin_loaded_function(
            "pthread_create");
    int (*detach)(pthread_t) = (int (*)(pthread_t))plugin_loaded_function("pthread_detach");
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    if (create && detach && create(&thread, NULL, watch, NULL) == 0) {
        detach(thread);
    } else {
        atomic_store(&watchdog.alive, false);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void watchdog_begin(const char *kernel, uint64_t limit_ns, void (*late)(const char *kernel))
{
    atomic_store(&watchdog.until_ns, plugin_now_ns() + limit_ns);
    atomic_store(&watchdog.late, late);
    atomic_store(&watchdog.kernel, kernel);
    if (!atomic_exchange(&watchdog.alive, true)) {
        start();
    }
}

void watchdog_end(void)
{
    look(); /* its thread may not have come to it */
    atomic_store(&watchdog.kernel, NULL);
}
