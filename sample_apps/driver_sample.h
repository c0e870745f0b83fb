/* For the samples in plain C that use the driver API: the path of a file beside the program. */
#ifndef WARPWATCH_DRIVER_SAMPLE_H
#define WARPWATCH_DRIVER_SAMPLE_H

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "driver_check.h"
#include "sample.h"

static inline const char *beside_program(const char *name)
{
    static char path[PATH_MAX + NAME_MAX + 2];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length <= 0) {
        perror("/proc/self/exe");
        exit(1);
    }
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, name);
    return path;
}

#endif
