/* One write per line, straight to file descriptor 2: the program's stdio is its own. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "platform.h"
#include "settings.h"

void message(const char *format, ...)
{
    if (settings.quiet) {
        return;
    }
    KEEP_ERRNO;
    char line[PATH_MAX + 512] = "warpwatch: ";
    size_t used = sizeof "warpwatch: " - 1;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    va_end(arguments);
    used += length < 0 ? 0 : (size_t)length;
    used = used < sizeof line - 1 ? used : sizeof line - 2;
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written;
}
