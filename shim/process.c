/* From loading to exit. Nothing is made and nothing is said before the first launch. */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "describe.h"
#include "lookup.h"
#include "message.h"
#include "recorder.h"
#include "records.h"
#include "registry.h"
#include "settings.h"
#include "shard.h"
#include "store.h"

static pid_t owner; /* the process that the store belongs to */

static void read_host(char host[64])
{
    if (gethostname(host, 64) != 0) {
        strcpy(host, "unknown");
    }
    host[63] = '\0';
    for (char *p = host; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                     *p == '-' || *p == '.' || *p == '_';
        *p = plain ? *p : '_';
    }
}

static size_t read_file(const char *path, char *bytes, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    while (file >= 0 && used < size) {
        ssize_t got = read(file, bytes + used, size - used);
        if (got <= 0) {
            break;
        }
        used += (size_t)got;
    }
    if (file >= 0) {
        close(file);
    }
    return used;
}

static uint64_t start_ticks(void)
{
    char text[1024];
    size_t bytes = read_file("/proc/self/stat", text, sizeof text - 1);
    text[bytes] = '\0';
    /* The command in parentheses may hold anything; field 3 follows its last one. */
    const char *field = strrchr(text, ')');
    for (int number = 2; field && number < 22; number++) {
        field = strchr(field + 1, ' ');
    }
    return field ? strtoull(field + 1, NULL, 10) : 0;
}

static int32_t number_from(const char *const variables[], int32_t otherwise)
{
    for (; *variables; variables++) {
        const char *value = getenv(*variables);
        char *end;
        long number = value && *value ? strtol(value, &end, 10) : -1;
        if (number >= 0 && number <= INT32_MAX && *end == '\0') {
            return (int32_t)number;
        }
    }
    return otherwise;
}

static uint64_t realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fill_identity(struct store_header *header, uint64_t start_realtime_ns)
{
    static const char *const rank[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", NULL};
    static const char *const local_rank[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID",
                                             NULL};
    static const char *const world[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "PMI_SIZE",
                                        NULL};
    memcpy(header->magic, STORE_MAGIC, sizeof header->magic);
    header->version = STORE_VERSION;
    header->header_bytes = STORE_BLOCK_BYTES;
    header->features =
        (settings.times ? STORE_FEATURE_TIMES : 0) | (store.file >= 0 ? STORE_FEATURE_LOCKED : 0);
    header->pid_start_ticks = start_ticks();
    header->start_realtime_ns = start_realtime_ns;
    header->start_monotonic_ns = clock_monotonic_ns();
    header->pid = (uint32_t)getpid();
    header->rank = number_from(rank, -1);
    header->local_rank = number_from(local_rank, -1);
    header->world_size = (uint32_t)number_from(world, 0);
    int version = 0;
    if (driver_query()->cuDriverGetVersion && driver_query()->cuDriverGetVersion(&version) == CUDA_SUCCESS) {
        header->driver_version = (uint32_t)version;
    }
    read_host(header->host);
    read_file("/proc/sys/kernel/random/boot_id", header->boot_id, 36);
}

static void fill_texts(struct store_header *header)
{
    char text[PATH_MAX];
    size_t bytes = read_file("/proc/self/cmdline", text, sizeof text);
    store_add_string(text, bytes, &header->command);
    if (getcwd(text, sizeof text)) {
        store_add_string(text, strlen(text), &header->directory);
    }
}

static int create_file(uint64_t *start_realtime_ns)
{
    char host[64], path[PATH_MAX + 128];
    read_host(host);
    int file;
    do {
        *start_realtime_ns = realtime_ns();
        snprintf(path, sizeof path, "%s/warpwatch.%s.%d.%llu" STORE_SUFFIX, settings.output, host,
                 (int)getpid(), (unsigned long long)*start_realtime_ns);
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (file < 0 && (errno == EEXIST || errno == EINTR));
    return file;
}

static bool open_store(void)
{
    uint64_t start_realtime_ns;
    int file = create_file(&start_realtime_ns);
    int failure = file < 0 ? errno : store_map(file);
    if (failure) {
        message("no store in %s: %s; launches are not recorded", settings.output, strerror(failure));
        return false;
    }
    flock(file, LOCK_EX | LOCK_NB);
    struct store_header *header = store_header();
    fill_texts(header);
    fill_identity(header, start_realtime_ns);
    header->check = store_check(header, offsetof(struct store_header, check));
    header->ticks_per_second = clock_rate();
    store_release((_Atomic uint32_t *)&header->state, STORE_RUNNING);
    return true;
}

/* In a forked child of a process that has launched: all of it is about the parent's store. */
static void forget_parent(void)
{
    store = (struct store){.file = -1};
    shard_forget_all();
    records_open();
    registry_close();
    describe_open();
}

void process_first_launch(void)
{
    pthread_mutex_lock(&recorder_lock);
    if (load_relaxed(&recorder.mode) == RECORDER_UNSET) {
        thread.shard = NULL;
        if (store.base) {
            forget_parent();
        }
        keys_open(&recorder.keys);
        recorder.times = settings.times;
        if (!settings.disabled && open_store()) {
            owner = getpid();
            recorder.store_base = store.base;
            recorder_choose_mode();
        } else {
            store_release(&recorder.mode, RECORDER_OFF);
        }
        if (settings.problem[0]) {
            message("%s", settings.problem);
        }
    }
    pthread_mutex_unlock(&recorder_lock);
}

void process_sign_of_life(void)
{
    struct store_header *header = store_header();
    store_relaxed((_Atomic uint64_t *)&header->end_monotonic_ns, clock_monotonic_ns());
    if (clock_state.counter) {
        store_relaxed((_Atomic uint64_t *)&header->ticks_per_second, clock_rate());
    }
}

__attribute__((constructor)) static void process_loaded(void)
{
    settings_read();
    clock_start();
    recorder.times = settings.times;
    if (settings.disabled) {
        lookup_disable();
    }
    madvise(&recorder_page, sizeof recorder_page, MADV_WIPEONFORK);
}

__attribute__((destructor)) static void process_ended(void)
{
    if (store.base && owner == getpid()) {
        process_sign_of_life();
        store_release((_Atomic uint32_t *)&store_header()->state, STORE_FINISHED);
    }
}
