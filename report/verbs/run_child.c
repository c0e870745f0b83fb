/* fork, exec, wait, and signals in between. */
#include "run_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

static const int forwarded[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};
#define FORWARDED (sizeof forwarded / sizeof *forwarded)

static volatile sig_atomic_t child;

/* The kernel sends what the terminal's keys mean to the whole foreground group: the command has it already.
 */
static void forward(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code != SI_KERNEL && child > 0 && info->si_pid != child) {
        int saved = errno;
        kill((pid_t)child, signal);
        errno = saved;
    }
}

struct signals {
    sigset_t mask;
    struct sigaction actions[FORWARDED];
};

/* Blocked until the child is known, so that none is lost; what was ignored stays so. */
static void signals_take(struct signals *before)
{
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t set;
    sigfillset(&action.sa_mask);
    sigemptyset(&set);
    for (size_t i = 0; i < FORWARDED; i++) {
        sigaddset(&set, forwarded[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &before->mask);
    for (size_t i = 0; i < FORWARDED; i++) {
        sigaction(forwarded[i], NULL, &before->actions[i]);
        if (before->actions[i].sa_handler != SIG_IGN) {
            sigaction(forwarded[i], &action, NULL);
        }
    }
}

static void signals_restore(const struct signals *before)
{
    for (size_t i = 0; i < FORWARDED; i++) {
        sigaction(forwarded[i], &before->actions[i], NULL);
    }
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* In the child; says through the pipe why exec failed. The kernel ends the command if this process is killed:
 * then nobody waits for it who would have, had it been started directly. */
static void start(char **command, const struct signals *before, pid_t parent, int failure)
{
    signals_restore(before);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) {
        execvp(command[0], command);
    }
    int error = errno;
    ssize_t written = write(failure, &error, sizeof error);
    (void)written;
    _exit(error == ENOENT ? 127 : 126);
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return 126;
        }
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_child(char **command, bool *started)
{
    struct signals before;
    int failure[2] = {-1, -1}, error = 0;
    *started = false;
    signals_take(&before);
    pid_t parent = getpid(), pid = pipe2(failure, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid < 0) {
        signals_restore(&before);
        cli_complain("run: %s", strerror(errno));
        return 126;
    }
    if (pid == 0) {
        start(command, &before, parent, failure[1]);
    }
    child = pid;
    close(failure[1]);
    sigprocmask(SIG_SETMASK, &before.mask, NULL);
    *started = read(failure[0], &error, sizeof error) != sizeof error;
    close(failure[0]);
    int status = wait_for(pid);
    child = 0;
    signals_restore(&before);
    if (!*started) {
        cli_complain("command '%s': %s", command[0], strerror(error));
    }
    return status;
}
