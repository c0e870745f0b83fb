/* From loading to exit. Nothing is made and nothing is said before the first launch. */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "describe.h"
#include "elf_object.h"
#include "filter.h"
#include "graph_exec.h"
#include "identity.h"
#include "loader.h"
#include "lookup.h"
#include "message.h"
#include "place.h"
#include "plugin_host.h"
#include "recorder_state.h"
#include "records.h"
#include "registry.h"
#include "report_start.h"
#include "resolve.h"
#include "settings.h"
#include "shard.h"
#include "store.h"
#include "trace.h"

static pid_t owner; /* the process that the store belongs to */
static bool injected;
static struct place place;
static char library_path[PATH_MAX];
static int seccomp_at_load; /* PR_GET_SECCOMP: 0 without a filter */

void process_is_injected(void)
{
    injected = true;
}

const char *process_library_path(void)
{
    return library_path;
}

/* The loader names the library as LD_PRELOAD did, maybe relative to where the program was started. */
static void find_library_path(void)
{
    struct elf_object object;
    if (!elf_object_holding((const void *)find_library_path, &object) ||
        strlen(object.path) >= PATH_MAX / 2) {
        return;
    }
    char *end = library_path;
    if (object.path[0] != '/' && getcwd(library_path, PATH_MAX / 2 - 1)) {
        end += strlen(library_path);
        *end++ = '/';
    }
    memcpy(end, object.path, strlen(object.path) + 1);
}

/* In a file where it belongs, else in a memory file, else in memory alone. */
static int map_store(int *file)
{
    *file = place_open(&place);
    int failure = store_map(*file, place.path);
    if (failure && place.kind != PLACE_ANONYMOUS) {
        unlink(place.path);
        if (place.pointer[0]) {
            unlink(place.pointer);
        }
        close(*file);
        *file = place_open_anonymous(&place, failure);
        failure = store_map(*file, place.path);
    }
    if (failure && *file >= 0) {
        close(*file);
        *file = -1;
        failure = store_map(-1, NULL);
    }
    return failure;
}

static bool open_store(uint32_t driver_version, const struct clock_moment *start)
{
    int file, failure = map_store(&file);
    if (failure) {
        message("no room for a store, neither in %s nor in memory: %s; launches are not recorded",
                settings.output, strerror(failure));
        return false;
    }
    if (place.kind == PLACE_ANONYMOUS) {
        message("no store can be made in %s: %s; counting in memory, the report comes at exit if it can be "
                "written then",
                place.refused, strerror(place.failure));
    } else if (place.live_unsuitable) {
        message("WARPWATCH_LIVE: no shared mapping is safe on the file system of %s, only on ext4, xfs, "
                "tmpfs and overlayfs; the default is used",
                settings.live);
    }
    struct store_header *header = store_header();
    identity_fill(header, start, driver_version);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) {
        header->features |= STORE_FEATURE_LOCKED;
    }
    header->features |= injected ? STORE_FEATURE_CALLBACKS : 0;
    header->check = store_check(header, offsetof(struct store_header, check));
    header->ticks_per_second = clock_rate();
    header->end_monotonic_ns = clock_monotonic_ns();
    store_release((_Atomic uint32_t *)&header->state, STORE_RUNNING);
    return true;
}

/* In a forked child: what the parent's store, streams and graphs were is not ours. */
static void forget_parent(void)
{
    if (store.base) {
        if (store_owns_file()) {
            close(store.file);
        }
        store_unmap();
    }
    thread.shard = NULL;
    thread.nested = false;
    shard_forget_all();
    records_close();
    registry_close();
    graph_exec_forget_bodies();
    describe_forget_devices();
    resolve_drop_pending(NULL);
    plugin_forked();
}

static void say_problems(void)
{
    for (uint32_t i = 0; i < settings.problem_count; i++) {
        message("%s", settings.problems[i]);
    }
    if (!filter_open(settings.filter)) {
        message(
            "WARPWATCH_FILTER: not understood, it takes a POSIX extended regular expression; all kernels are "
            "recorded in detail");
    }
}

static uint32_t ask_driver_version(void)
{
    const struct driver_queries *driver = driver_query();
    int version = 0, devices = 1;
    if (driver->cuDeviceGetCount && driver->cuDeviceGetCount(&devices) == CUDA_SUCCESS && devices > 1) {
        registry_tell_places_apart(PLACES_DEVICES);
    }
    bool known = driver->cuDriverGetVersion && driver->cuDriverGetVersion(&version) == CUDA_SUCCESS;
    return known ? (uint32_t)version : 0;
}

void process_first_launch(uint64_t start)
{
    struct clock_moment began = clock_moment(start);
    uint32_t driver_version = ask_driver_version();
    recorder_lock_take();
    bool first = load_relaxed(&recorder.mode) == RECORDER_UNSET, opened = false;
    if (first) {
        if (store.base) {
            forget_parent(); /* a fork that the C library did not see */
        }
        keys_open(&recorder.keys);
        store_relaxed(&recorder.times, settings.times);
        opened = !settings.disabled && open_store(driver_version, &began);
        owner = getpid();
        if (opened && settings.trace) {
            trace_open();
        }
        store_relaxed(&recorder.traced, opened && settings.trace);
        if (!settings.disabled) {
            say_problems();
        }
        store_release(&recorder.mode, !opened                            ? RECORDER_OFF
                                      : load_relaxed(&recorder.captures) ? RECORDER_CAREFUL
                                                                         : RECORDER_PLAIN);
    }
    recorder_lock_give();
    if (opened) {
        plugin_store_opened();
    }
}

void process_sign_of_life(void)
{
    struct store_header *header = store_header();
    store_relaxed((_Atomic uint64_t *)&header->end_monotonic_ns, clock_monotonic_ns());
    if (clock_state.counter) {
        store_relaxed((_Atomic uint64_t *)&header->ticks_per_second, clock_rate());
    }
}

void process_set_feature(uint64_t store_feature_bits)
{
    recorder_lock_take();
    struct store_header *header = store_header();
    if (header) {
        header->features |= store_feature_bits;
        header->check = store_check(header, offsetof(struct store_header, check));
    }
    recorder_lock_give();
}

/* A signal handler may fork while its own thread is at work under the lock: then it is not waited for, and
 * what the child launches is not recorded. */
static void before_fork(void)
{
    thread.forked_amid = thread.locking;
    if (!thread.forked_amid) {
        recorder_lock_take();
    }
}

static void after_fork_in_parent(void)
{
    if (!thread.forked_amid) {
        recorder_lock_give();
    }
}

/* The lock is wiped with its page. */
static void after_fork_in_child(void)
{
    bool off = load_relaxed(&recorder.mode) == RECORDER_OFF;
    memset(&recorder_page, 0, sizeof recorder_page); /* where the kernel cannot wipe it */
    if (off || thread.forked_amid) {
        store_relaxed(&recorder.mode, RECORDER_OFF);
        return;
    }
    thread.locking = false;
    store_relaxed(&recorder.times, true);
    forget_parent();
}

__attribute__((constructor)) static void process_loaded(void)
{
    message_start();
    settings_read();
    if (settings.disabled || getauxval(AT_SECURE) || loader_has_copy_before_us()) {
        lookup_disable();
        store_release(&recorder.mode, RECORDER_OFF);
        return;
    }
    seccomp_at_load = prctl(PR_GET_SECCOMP);
    clock_start();
    find_library_path();
    store_relaxed(&recorder.times, true);
    madvise(&recorder_page, sizeof recorder_page, MADV_WIPEONFORK);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static void say_outcome(enum report_outcome outcome)
{
    if (message_said()) {
        return;
    }
    switch (outcome) {
    case REPORT_WRITTEN:
        if (isatty(STDERR_FILENO)) {
            message("report in %s.*", place.final);
        }
        break;
    case REPORT_NO_COMMAND:
        message("store in %s; the command `warpwatch` that reads it is not beside %s", place.path,
                library_path);
        break;
    case REPORT_FAILED:
        message("store in %s; its report could not be written, `warpwatch report` says why", place.path);
        break;
    case REPORT_UNDER_WAY:
        message("store in %s; its report is still being written", place.path);
        break;
    case REPORT_CONFINED:
        message(
            "store in %s; no report, because this process filters its own system calls: `warpwatch report` "
            "makes it",
            place.path);
        break;
    case REPORT_NOT_WANTED:
        break;
    }
}

/* A filter that the program put on itself may end it for starting another program. */
static bool confined_itself(void)
{
    return seccomp_at_load == 0 && prctl(PR_GET_SECCOMP) != 0;
}

/* Runs after the program's own exit handlers. The driver may be gone by now: no question to it. */
__attribute__((destructor)) static void process_ended(void)
{
    KEEP_ERRNO;
    /* The mode first: with it another thread's first launch gives away what it has made. */
    if (load_acquire(&recorder.mode) == RECORDER_UNSET || store.base == NULL || owner != getpid()) {
        return;
    }
    process_sign_of_life();
    store_release((_Atomic uint32_t *)&store_header()->state, STORE_FINISHED);
    int failure = place_settle(&place, store.base, store.used_bytes);
    if (failure && place.kind == PLACE_ANONYMOUS) {
        return; /* said at the first launch */
    }
    say_outcome(report_start(library_path, place.path, place.final, confined_itself()));
}
