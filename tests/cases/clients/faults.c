/* A process whose surroundings break: faults FAULT first|later [DIRECTORY [REPEATS]]. FAULT is done before
 * the first launch or after it; 3,002 launches and REPEATS (100). Prints what it could notice, and ends with
 * status 5. */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHAPES = 3000, NOBODY = 65534, STATUS = 5 };

static CUcontext context;
static CUfunction scale;
static CUdeviceptr memory;
static const char *directory = "/";
static unsigned repeats = 100;

static void must(bool done, const char *what)
{
    if (!done) {
        perror(what);
        exit(1);
    }
}

/* --- limits -------------------------------------------------------------------------------------------- */

static void limit(__rlimit_resource_t resource, rlim_t most)
{
    must(setrlimit(resource, &(struct rlimit){most, most}) == 0, "setrlimit");
}

static void no_descriptors(void)
{
    int next = open("/dev/null", O_RDONLY);
    close(next);
    limit(RLIMIT_NOFILE, (rlim_t)next);
}

static void few_descriptors(void)
{
    limit(RLIMIT_NOFILE, 64);
}

static void no_address_space(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    must(file && fscanf(file, "%ld", &pages) == 1, "statm");
    fclose(file);
    limit(RLIMIT_AS, (rlim_t)pages * 4096 + (1 << 20));
}

static void no_file_bytes(void)
{
    limit(RLIMIT_FSIZE, 0);
}

static void few_file_bytes(void)
{
    limit(RLIMIT_FSIZE, 100 << 10);
}

static void no_locked_memory(void)
{
    limit(RLIMIT_MEMLOCK, 0);
    prctl(PR_CAPBSET_DROP, 14); /* CAP_IPC_LOCK */
}

static void lock_memory(void)
{
    must(mlockall(MCL_CURRENT | MCL_FUTURE) == 0, "mlockall");
}

/* --- another user, another root ------------------------------------------------------------------------ */

static void drop_user(void)
{
    must(setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
             setresuid(NOBODY, NOBODY, NOBODY) == 0,
         "setresuid");
}

/* Limits on processes do not bind root. */
static void no_processes(void)
{
    limit(RLIMIT_NPROC, 0);
    drop_user();
}

static void undumpable(void)
{
    drop_user();
    must(prctl(PR_SET_DUMPABLE, 0) == 0, "PR_SET_DUMPABLE");
}

static void change_root(void)
{
    must(chroot(directory) == 0 && chdir("/") == 0, "chroot");
}

static void other_umask(void)
{
    umask(0);
}

static void strict_umask(void)
{
    umask(0777);
}

static void clear_environment(void)
{
    clearenv();
}

/* --- descriptors --------------------------------------------------------------------------------------- */

static void close_from(int first)
{
    for (int file = first; file < 1024; file++) {
        close(file);
    }
}

static void close_unknown(void)
{
    close_from(3);
}

static int own_file = -1;

/* A program that keeps its data under the number that stderr had. */
static void own_stderr(void)
{
    char path[5000];
    snprintf(path, sizeof path, "%s/own", directory);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(dup2(file, STDERR_FILENO) == STDERR_FILENO, "dup2");
    close(file);
    own_file = STDERR_FILENO;
    const char *output = getenv("WARPWATCH_OUTPUT");
    if (output && rmdir(output) == 0) { /* and then the library has something to complain of */
        close(open(output, O_WRONLY | O_CREAT, 0600));
    }
}

/* --- seccomp ------------------------------------------------------------------------------------------- */

static void filter(const int *calls, size_t count, uint32_t otherwise, uint32_t action)
{
    struct sock_filter program[80];
    size_t used = 0;
    program[used++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        program[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
        program[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    }
    program[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    struct sock_fprog all = {(unsigned short)used, program};
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0,
         "seccomp");
}

static const int opening[] = {SYS_openat, SYS_open, SYS_creat, SYS_memfd_create};
static const int forking[] = {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, SYS_execve, SYS_execveat};
static const int mapping[] = {SYS_mmap, SYS_mremap, SYS_madvise};
static const int advising[] = {SYS_madvise};
static const int filing[] = {SYS_fstat,    SYS_newfstatat, SYS_statfs, SYS_fcntl, SYS_flock, SYS_fallocate,
                             SYS_pwrite64, SYS_ftruncate,  SYS_fchmod, SYS_dup3,  SYS_dup2};
static const int growing[] = {SYS_fallocate, SYS_pwrite64, SYS_ftruncate};
static const int asking[] = {SYS_prlimit64, SYS_getrlimit, SYS_uname,  SYS_getcwd, SYS_gettid,
                             SYS_tgkill,    SYS_getpid,    SYS_access, SYS_wait4};

#define REFUSE(name, calls, number)                                                                          \
    static void name(void)                                                                                   \
    {                                                                                                        \
        filter(calls, sizeof(calls) / sizeof *(calls), SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | (number));     \
    }
REFUSE(opening_refused, opening, EPERM)
REFUSE(opening_unknown, opening, ENOSYS)
REFUSE(forking_refused, forking, EPERM)
REFUSE(forking_unknown, forking, ENOSYS)
REFUSE(mapping_refused, mapping, EPERM)
REFUSE(mapping_unknown, mapping, ENOSYS)
REFUSE(advising_refused, advising, EPERM)
REFUSE(advising_unknown, advising, ENOSYS)
REFUSE(filing_refused, filing, EPERM)
REFUSE(filing_unknown, filing, ENOSYS)
REFUSE(quota_used_up, growing, EDQUOT)
REFUSE(asking_refused, asking, EPERM)
REFUSE(asking_unknown, asking, ENOSYS)

static void forking_kills(void)
{
    filter(forking, sizeof forking / sizeof *forking, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
}

/* What a watched process needs once it has launched, beside what this program and the driver need themselves:
 * docs/robustness.md promises that there is nothing else. */
static void all_else_kills(void)
{
    static const int allowed[] = {SYS_fstat,  SYS_fallocate,  SYS_prlimit64,  SYS_mmap,
                                  SYS_munmap, SYS_gettid,     SYS_tgkill,     SYS_getpid,
                                  SYS_prctl,  SYS_write,      SYS_futex,      SYS_brk,
                                  SYS_exit,   SYS_exit_group, SYS_newfstatat, SYS_clock_gettime};
    filter(allowed, sizeof allowed / sizeof *allowed, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
}

static void nothing(void) {}

static const struct scenario faults[] = {
    {"nothing", nothing},
    {"no_descriptors", no_descriptors},
    {"few_descriptors", few_descriptors},
    {"no_address_space", no_address_space},
    {"no_file_bytes", no_file_bytes},
    {"few_file_bytes", few_file_bytes},
    {"no_locked_memory", no_locked_memory},
    {"lock_memory", lock_memory},
    {"drop_user", drop_user},
    {"no_processes", no_processes},
    {"undumpable", undumpable},
    {"change_root", change_root},
    {"other_umask", other_umask},
    {"strict_umask", strict_umask},
    {"clear_environment", clear_environment},
    {"close_unknown", close_unknown},
    {"own_stderr", own_stderr},
    {"opening_refused", opening_refused},
    {"opening_unknown", opening_unknown},
    {"forking_refused", forking_refused},
    {"forking_unknown", forking_unknown},
    {"forking_kills", forking_kills},
    {"mapping_refused", mapping_refused},
    {"mapping_unknown", mapping_unknown},
    {"advising_refused", advising_refused},
    {"advising_unknown", advising_unknown},
    {"filing_refused", filing_refused},
    {"filing_unknown", filing_unknown},
    {"quota_used_up", quota_used_up},
    {"asking_refused", asking_refused},
    {"asking_unknown", asking_unknown},
    {"all_else_kills", all_else_kills},
};

/* --- the program --------------------------------------------------------------------------------------- */

static void open_device(void)
{
    client_open(&context, &memory, &scale);
}

/* A launch leaves errno alone. */
static void launch(unsigned grid)
{
    float factor = 2;
    void *values[] = {&memory, &factor};
    errno = ELOOP;
    CHECK(cuLaunchKernel(scale, grid, 1, 1, 64, 1, 1, 0, NULL, values, NULL));
    if (errno != ELOOP) {
        printf("errno %d\n", errno);
        exit(1);
    }
}

static void launch_all(void)
{
    for (unsigned grid = 1; grid <= SHAPES; grid++) {
        launch(grid);
    }
    for (unsigned i = 0; i < repeats; i++) {
        launch(1);
    }
}

int main(int arguments, char **argument)
{
    bool later = arguments > 2 && strcmp(argument[2], "later") == 0;
    directory = arguments > 3 ? argument[3] : directory;
    repeats = arguments > 4 ? (unsigned)atoi(argument[4]) : repeats;
    open_device();
    for (int i = 0; i < 2 && later; i++) {
        launch(1);
    }
    if (RUN_SCENARIO(faults, arguments, argument) != 0) {
        return 2;
    }
    for (int i = 0; i < 2 && !later; i++) {
        launch(1);
    }
    launch_all();
    if (own_file >= 0) {
        printf("%ld bytes of its own\n", (long)lseek(own_file, 0, SEEK_END));
    }
    printf("done\n");
    return STATUS;
}
