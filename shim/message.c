/* One write per line, straight to file descriptor 2: the program's stdio is its own. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "file_identity.h"
#include "platform.h"
#include "settings.h"

static struct file_identity stderr_at_load;
static bool had_stderr, said;

bool message_said(void)
{
    return said;
}

void message_start(void)
{
    had_stderr = file_identify(STDERR_FILENO, &stderr_at_load) == 0;
}

/* To write beyond the limit on file sizes would be a signal. */
static bool has_room(uint64_t bytes)
{
    struct stat status;
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           syscall(SYS_fstat, STDERR_FILENO, &status) != 0 || !S_ISREG(status.st_mode) ||
           (uint64_t)status.st_size + bytes <= limit.rlim_cur;
}

/* A program that was started without stderr, or has closed it, may have a file of its own under that number.
 */
static bool is_stderr(void)
{
    struct file_identity now = {0, 0};
    int failure = had_stderr ? file_identify(STDERR_FILENO, &now) : EBADF;
    if (failure) {
        return failure != EBADF; /* the question itself is not allowed */
    }
    return (now.device == stderr_at_load.device && now.inode == stderr_at_load.inode) ||
           isatty(STDERR_FILENO);
}

void message(const char *format, ...)
{
    KEEP_ERRNO;
    if (settings.quiet || !is_stderr()) {
        return;
    }
    char line[PATH_MAX + 512] = "warpwatch: ";
    size_t used = sizeof "warpwatch: " - 1;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    va_end(arguments);
    used += length < 0 ? 0 : (size_t)length;
    used = used < sizeof line - 1 ? used : sizeof line - 2;
    line[used++] = '\n';
    said = true;
    ssize_t written = has_room(used) ? write(STDERR_FILENO, line, used) : 0;
    (void)written;
}
