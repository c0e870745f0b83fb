/* The reporter runs as a child that the program does not see: no signal when it ends, none of the program's
 * files, its output in a file of its own. */
#include "report_start.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "memory.h"
#include "settings.h"

enum { STACK_BYTES = 64 << 10, LONGEST_WAIT_MS = 5000, MOST_VARIABLES = 4096 };

struct command {
    char *const *arguments;
    char *const *variables;
};

static bool find_command(const char *library, char path[PATH_MAX])
{
    static const char *const places[] = {"%.*s/../bin/warpwatch", "%.*s/warpwatch",
                                         "%.*s/../../bin/warpwatch"};
    const char *slash = strrchr(library, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        int bytes = snprintf(path, PATH_MAX, places[i], (int)(slash - library), library);
        if (bytes < PATH_MAX && access(path, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* The program's own variables, without the preload. */
static char **own_variables(void)
{
    extern char **environ;
    char **variables = memory_map(MOST_VARIABLES * sizeof *variables);
    size_t count = 0;
    for (char **variable = environ; variables && variable && *variable && count < MOST_VARIABLES - 1;
         variable++) {
        if (strncmp(*variable, "LD_PRELOAD=", 11) != 0) {
            variables[count++] = *variable;
        }
    }
    return variables;
}

static void close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) {
        return;
    }
#endif
    for (int file = first; file < 65536; file++) {
        close(file);
    }
}

/* Runs in the program's memory, on a stack of its own, until execve: system calls only. */
static int child(void *argument)
{
    const struct command *command = argument;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int number = 1; number < 65; number++) {
        sigaction(number, &plain, NULL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int nowhere = open("/dev/null", O_RDWR);
    for (int file = 0; file < 3 && nowhere >= 0; file++) {
        dup2(nowhere, file);
    }
    close_from(3);
    execve(command->arguments[0], command->arguments, command->variables);
    _exit(127);
}

/* A child without exit signal: the program gets no SIGCHLD and cannot wait for it by accident. */
static pid_t start(const struct command *command)
{
    char *stack = memory_map(STACK_BYTES);
    if (stack == NULL) {
        return -1;
    }
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = clone(child, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, (void *)command);
    sigprocmask(SIG_SETMASK, &before, NULL);
    memory_unmap(stack, STACK_BYTES);
    return pid;
}

static enum report_outcome wait_for(pid_t pid, uint64_t until_ns)
{
    for (;;) {
        int status;
        pid_t ended = waitpid(pid, &status, __WALL | WNOHANG);
        if (ended == pid) {
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? REPORT_WRITTEN : REPORT_FAILED;
        }
        if (ended < 0 && errno != EINTR) {
            return REPORT_FAILED;
        }
        if (clock_monotonic_ns() >= until_ns) {
            return REPORT_UNDER_WAY;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static const char *suffix_of(const char *format)
{
    return strcmp(format, "text") == 0 ? "txt" : format;
}

static enum report_outcome write_one(const char *command_path, const char *store_path, const char *final_path,
                                     const char *format, uint64_t until_ns)
{
    char output[PATH_MAX + 128];
    snprintf(output, sizeof output, "%s.%s", final_path, suffix_of(format));
    const char *arguments[] = {command_path, "report", "--format", format, "-o", output, store_path, NULL};
    char **variables = own_variables();
    if (variables == NULL) {
        return REPORT_FAILED;
    }
    struct command command = {(char *const *)arguments, variables};
    pid_t pid = start(&command);
    memory_unmap(variables, MOST_VARIABLES * sizeof *variables);
    return pid < 0 ? REPORT_FAILED : wait_for(pid, until_ns);
}

enum report_outcome report_start(const char *library, const char *store_path, const char *final_path,
                                 bool confined)
{
    if (strstr(settings.report, "none")) {
        return REPORT_NOT_WANTED;
    }
    if (confined) {
        return REPORT_CONFINED;
    }
    char command[PATH_MAX], formats[sizeof settings.report];
    if (!find_command(library, command)) {
        return REPORT_NO_COMMAND;
    }
    uint64_t until_ns = clock_monotonic_ns() + (uint64_t)LONGEST_WAIT_MS * 1000000u;
    enum report_outcome outcome = REPORT_WRITTEN;
    memcpy(formats, settings.report, sizeof formats);
    char *rest = formats;
    for (char *format; outcome == REPORT_WRITTEN && (format = strsep(&rest, ",")) != NULL;) {
        outcome = write_one(command, store_path, final_path, format, until_ns);
    }
    return outcome;
}
