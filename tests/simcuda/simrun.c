/* `./dev sim`: runs a command with the simulated libraries first on the library path, and turns the ledgers
 * that its processes leave behind into JSON. */
#include "ledger_json.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STRAGGLER_NS   10000000000ll
#define EXIT_USAGE     2
#define EXIT_NOT_FOUND 127

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "simrun: %s %s: %s\n", what, which, strerror(errno));
    exit(1);
}

/* --- all ledgers of a run ------------------------------------------------------------------------------ */

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

static void write_json(const char *path, const struct ledger *ledger)
{
    if (!ledger_write_json(path, ledger)) {
        fail("ledger", path);
    }
}

static void write_ledgers(const char *path, const char *directory)
{
    size_t count;
    struct ledger *ledgers = ledgers_open(directory, &count);
    if (count == 0) {
        write_json(path, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        char own[LEDGER_PATH_BYTES];
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
    char value[4 * LEDGER_PATH_BYTES];
    snprintf(value, sizeof(value), before && *before ? "%s:%s" : "%s", directory, before);
    setenv(variable, value, 1);
}

/* They lie beside this program. */
static void use_libraries(void)
{
    char folder[LEDGER_PATH_BYTES];
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
        ledger_close(&ledgers[i]);
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
    char directory[LEDGER_PATH_BYTES];
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
