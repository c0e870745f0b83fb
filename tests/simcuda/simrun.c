/* `./dev sim`: runs a command with the simulated libraries first on the library path, and turns the ledgers
 * that its processes leave behind into JSON. */
#include "ledger_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES     4096
#define STRAGGLER_NS   10000000000ll
#define EXIT_USAGE     2
#define EXIT_NOT_FOUND 127

static const char *const call_names[LEDGER_CALLS] = {
#define EXPORT(symbol, name, version, default_stream) #symbol,
#include "exports.def"
#undef EXPORT
};

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "simrun: %s %s: %s\n", what, which, strerror(errno));
    exit(1);
}

/* --- one ledger to JSON -------------------------------------------------------------------------------- */

struct ledger {
    char path[PATH_BYTES];
    const char *base;
    size_t bytes;
    const struct ledger_header *header;
};

struct row {
    const char *function;
    struct ledger_launch launch;
};

struct rows {
    struct row *rows;
    size_t count, capacity;
};

static const void *at(const struct ledger *ledger, uint64_t offset, size_t bytes)
{
    return offset && offset <= ledger->bytes && bytes <= ledger->bytes - offset ? ledger->base + offset
                                                                                : NULL;
}

static void rows_add(struct rows *rows, const struct ledger *ledger, const struct ledger_launch *launch)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? rows->capacity * 2 : 256;
        rows->rows = realloc(rows->rows, rows->capacity * sizeof(*rows->rows));
        if (!rows->rows) {
            fail("reading", ledger->path);
        }
    }
    const char *name = at(ledger, launch->function, 1);
    struct row *row = &rows->rows[rows->count++];
    row->function = name ? name : "";
    memcpy(&row->launch, launch, sizeof(*launch));
}

static struct rows rows_of(const struct ledger *ledger)
{
    struct rows rows = {0};
    const struct ledger_shard *shard = at(ledger, atomic_load(&ledger->header->first_shard), sizeof(*shard));
    for (; shard; shard = at(ledger, shard->next, sizeof(*shard))) {
        const struct ledger_page *page = at(ledger, atomic_load(&shard->first_page), sizeof(*page));
        for (; page; page = at(ledger, page->next, sizeof(*page))) {
            unsigned used = atomic_load(&page->used);
            for (unsigned i = 0; i < used && i < LEDGER_PAGE_COUNT; i++) {
                rows_add(&rows, ledger, &page->launches[i]);
            }
        }
    }
    return rows;
}

/* By function, then by the rest of the key but for the name's offset. */
static int compare(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    size_t skip = sizeof(a->launch.function);
    int order = strcmp(a->function, b->function);
    return order ? order
                 : memcmp((const char *)&a->launch + skip, (const char *)&b->launch + skip,
                          LEDGER_KEY_BYTES - skip);
}

static void rows_merge(struct rows *rows)
{
    if (rows->count == 0) {
        return;
    }
    qsort(rows->rows, rows->count, sizeof(*rows->rows), compare);
    size_t kept = 0;
    for (size_t i = 1; i < rows->count; i++) {
        struct row *last = &rows->rows[kept], *next = &rows->rows[i];
        if (compare(last, next) == 0) {
            last->launch.count += next->launch.count;
            last->launch.graph_count += next->launch.graph_count;
        } else {
            rows->rows[++kept] = *next;
        }
    }
    rows->count = kept + 1;
}

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (*c < 0x20) {
            fprintf(out, "\\u%04x", *c);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

static void print_shape(FILE *out, const char *name, const uint32_t *shape)
{
    fprintf(out, ", \"%s\": [%u, %u, %u]", name, shape[0], shape[1], shape[2]);
}

static void print_launch(FILE *out, const struct row *row)
{
    const struct ledger_launch *launch = &row->launch;
    fputs("{\"function\": ", out);
    print_string(out, row->function);
    fprintf(out, ", \"device\": %u", launch->device);
    print_shape(out, "grid", launch->grid);
    print_shape(out, "block", launch->block);
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1) {
        print_shape(out, "cluster", launch->cluster);
    } else {
        fputs(", \"cluster\": null", out);
    }
    fprintf(out, ", \"dynamic_shared_bytes\": %u, \"count\": %llu, \"graph_count\": %llu}",
            launch->dynamic_shared_bytes, (unsigned long long)launch->count,
            (unsigned long long)launch->graph_count);
}

static void print_launches(FILE *out, const struct ledger *ledger)
{
    struct rows rows = rows_of(ledger);
    rows_merge(&rows);
    const char *separator = "\n    ";
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].launch.count) {
            fputs(separator, out);
            print_launch(out, &rows.rows[i]);
            separator = ",\n    ";
        }
    }
    free(rows.rows);
}

static void print_calls(FILE *out, const struct ledger *ledger)
{
    uint64_t calls[LEDGER_CALLS] = {0};
    const struct ledger_shard *shard = at(ledger, atomic_load(&ledger->header->first_shard), sizeof(*shard));
    for (; shard; shard = at(ledger, shard->next, sizeof(*shard))) {
        for (int i = 0; i < LEDGER_CALLS; i++) {
            calls[i] += atomic_load(&shard->calls[i]);
        }
    }
    const char *separator = "\n    ";
    for (int i = 0; i < LEDGER_CALLS; i++) {
        if (calls[i]) {
            fprintf(out, "%s\"%s\": %llu", separator, call_names[i], (unsigned long long)calls[i]);
            separator = ",\n    ";
        }
    }
}

static void print_faults(FILE *out, const struct ledger *ledger)
{
    const char *separator = "\n    ";
    const struct ledger_fault *fault = at(ledger, atomic_load(&ledger->header->first_fault), sizeof(*fault));
    for (; fault; fault = at(ledger, fault->next, sizeof(*fault))) {
        fputs(separator, out);
        print_string(out, fault->text);
        separator = ",\n    ";
    }
    uint64_t lost = atomic_load(&ledger->header->lost);
    if (lost) {
        fprintf(out, "%s\"the ledger was full: %llu launches are missing\"", separator,
                (unsigned long long)lost);
    }
}

/* `ledger` NULL: no process used the driver. */
static void write_json(const char *path, const struct ledger *ledger)
{
    FILE *out = fopen(path, "we");
    if (!out) {
        fail("ledger", path);
    }
    fputs("{\"launches\": [", out);
    if (ledger) {
        print_launches(out, ledger);
    }
    fputs("],\n \"calls\": {", out);
    if (ledger) {
        print_calls(out, ledger);
    }
    fputs("},\n \"faults\": [", out);
    if (ledger) {
        print_faults(out, ledger);
    }
    fputs("]}\n", out);
    if (ferror(out) | fclose(out)) {
        fail("ledger", path);
    }
}

/* --- all ledgers of a run ------------------------------------------------------------------------------ */

static bool ledger_open(struct ledger *ledger)
{
    int file = open(ledger->path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0 || status.st_size < (off_t)sizeof(struct ledger_header)) {
        if (file >= 0) {
            close(file);
        }
        return false;
    }
    ledger->bytes = (size_t)status.st_size;
    void *base = mmap(NULL, ledger->bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    if (base == MAP_FAILED) {
        return false;
    }
    ledger->base = base;
    ledger->header = base;
    return memcmp(ledger->header->magic, LEDGER_MAGIC, sizeof(ledger->header->magic)) == 0;
}

static int by_age(const void *left, const void *right)
{
    const struct ledger *a = left, *b = right;
    uint64_t first = a->header->created_ns, second = b->header->created_ns;
    return (first > second) - (first < second);
}

static struct ledger *ledgers_open(const char *directory, size_t *count)
{
    struct ledger *ledgers = NULL;
    *count = 0;
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (!strstr(entry->d_name, ".ledger")) {
            continue;
        }
        ledgers = realloc(ledgers, (*count + 1) * sizeof(*ledgers));
        if (!ledgers) {
            fail("reading", directory);
        }
        struct ledger *ledger = &ledgers[*count];
        snprintf(ledger->path, sizeof(ledger->path), "%s/%s", directory, entry->d_name);
        *count += ledger_open(ledger);
    }
    if (list) {
        closedir(list);
    }
    if (*count) {
        qsort(ledgers, *count, sizeof(*ledgers), by_age);
    }
    return ledgers;
}

static void write_ledgers(const char *path, const char *directory)
{
    size_t count;
    struct ledger *ledgers = ledgers_open(directory, &count);
    if (count == 0) {
        write_json(path, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        char own[PATH_BYTES];
        bool taken = access(path, F_OK) == 0;
        snprintf(own, sizeof(own), taken ? "%s.%u" : "%s", path, ledgers[i].header->pid);
        write_json(own, &ledgers[i]);
    }
    free(ledgers);
}

static void remove_directory(const char *directory)
{
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        unlinkat(dirfd(list), entry->d_name, 0);
    }
    if (list) {
        closedir(list);
    }
    rmdir(directory);
}

/* --- the command --------------------------------------------------------------------------------------- */

static volatile sig_atomic_t command_pid;

static void forward(int signal_number)
{
    if (command_pid > 0) {
        kill((pid_t)command_pid, signal_number);
    }
}

/* Signals sent to the runner are meant for the command. */
static void forward_signals(void)
{
    static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = forward, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++) {
        sigaction(forwarded[i], &action, NULL);
    }
}

static void prepend(const char *variable, const char *directory)
{
    const char *before = getenv(variable);
    char value[4 * PATH_BYTES];
    snprintf(value, sizeof(value), before && *before ? "%s:%s" : "%s", directory, before);
    setenv(variable, value, 1);
}

/* They lie beside this program. */
static void use_libraries(void)
{
    char folder[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    if (length < 0) {
        fail("reading", "/proc/self/exe");
    }
    folder[length] = 0;
    *strrchr(folder, '/') = 0;
    prepend("LD_LIBRARY_PATH", folder);
}

static pid_t start(char **command)
{
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        fprintf(stderr, "simrun: %s: %s\n", command[0], strerror(errno));
        _exit(EXIT_NOT_FOUND);
    }
    if (child < 0) {
        fail("starting", command[0]);
    }
    command_pid = child;
    return child;
}

static int wait_for(pid_t child)
{
    int status;
    for (;;) {
        pid_t ended = waitpid(-1, &status, 0);
        if (ended == child) {
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
        if (ended < 0 && errno != EINTR) {
            fail("waiting for", "the command");
        }
    }
}

/* A ledger's process, unless it has ended. */
static bool is_running(const struct ledger *ledger)
{
    char path[64], state = 'X';
    snprintf(path, sizeof(path), "/proc/%u/stat", ledger->header->pid);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) {
            state = 'X';
        }
        fclose(file);
    }
    return state != 'X' && state != 'Z';
}

static bool any_running(const char *directory)
{
    size_t count;
    struct ledger *ledgers = ledgers_open(directory, &count);
    bool running = false;
    for (size_t i = 0; i < count; i++) {
        running |= is_running(&ledgers[i]);
        munmap((void *)ledgers[i].base, ledgers[i].bytes);
    }
    free(ledgers);
    return running;
}

/* Processes that the command leaves behind still count, if they end soon. As the subreaper we get to wait for
 * them. */
static void wait_for_stragglers(const char *directory)
{
    struct timespec pause = {0, 2000000};
    for (int64_t waited_ns = 0; waited_ns < STRAGGLER_NS && any_running(directory);
         waited_ns += pause.tv_nsec) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        nanosleep(&pause, NULL);
    }
}

/* In memory, if not told otherwise: writing to a file on a disk now and then stalls the writer. */
static void make_directory(char *directory, size_t bytes)
{
    const char *const places[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(directory, bytes, "%s/simcuda-XXXXXX", places[i] ? places[i] : "");
        if (places[i] && mkdtemp(directory)) {
            return;
        }
    }
    fail("making", directory);
}

static int run(char **command, const char *ledger_path)
{
    char directory[PATH_BYTES];
    make_directory(directory, sizeof(directory));
    setenv("SIMCUDA_LEDGER_DIRECTORY", directory, 1);
    use_libraries();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    forward_signals();
    int status = wait_for(start(command));
    if (ledger_path) {
        wait_for_stragglers(directory);
        write_ledgers(ledger_path, directory);
    }
    remove_directory(directory);
    return status;
}

static int usage(void)
{
    fprintf(stderr, "usage: simrun [--device NAME[,NAME...]] [--ledger FILE] -- CMD...\n");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    const char *ledger = NULL;
    int i = 1;
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2) {
        if (strcmp(argv[i], "--device") == 0) {
            setenv("SIMCUDA_DEVICES", argv[i + 1], 1);
        } else if (strcmp(argv[i], "--ledger") == 0) {
            ledger = argv[i + 1];
        } else {
            return usage();
        }
    }
    if (i + 1 >= argc || strcmp(argv[i], "--") != 0) {
        return usage();
    }
    return run(argv + i + 1, ledger);
}
