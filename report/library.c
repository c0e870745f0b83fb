/* Looks where an installation or a build tree puts the library. */
#include "library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char name[] = "libwarpwatch.so";

/* The directory of this program, without the last slash. */
static bool own_directory(char directory[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX - 1);
    if (length <= 0) {
        return false;
    }
    directory[length] = '\0';
    char *slash = strrchr(directory, '/');
    if (!slash) {
        return false;
    }
    *slash = '\0';
    return true;
}

char *library_path(void)
{
    static const char *const places[] = {"../lib", WARPWATCH_LIBRARY_FROM_COMMAND, "../lib64",
                                         "../lib/warpwatch", "."};
    char directory[PATH_MAX];
    if (!own_directory(directory)) {
        cli_complain("%s: cannot tell where this program is, since /proc is not there", name);
        return NULL;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *joined;
        if (asprintf(&joined, "%s/%s/%s", directory, places[i], name) < 0) {
            return NULL;
        }
        char *path = access(joined, R_OK) == 0 ? realpath(joined, NULL) : NULL;
        free(joined);
        if (path) {
            return path;
        }
    }
    cli_complain("%s: not in %s/../lib, where it was installed with this program; install warpwatch again",
                 name, directory);
    return NULL;
}
