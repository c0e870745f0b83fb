/* Attaches a uprobe by perf_event_open: a counting event of the "uprobe" source, see its man page. */
#include "uprobe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool read_type(uint32_t *type)
{
    FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    bool held = file && fscanf(file, "%u", type) == 1;
    if (file) {
        fclose(file);
    }
    return held;
}

/* Where in which file the function lies. */
static bool find_place(void *function, char path[512], uint64_t *offset)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[1024];
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long from, to, at;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %511s", &from, &to, &at, path) == 4 &&
            (uintptr_t)function >= from && (uintptr_t)function < to) {
            *offset = at + ((uintptr_t)function - from);
            found = true;
        }
    }
    if (maps) {
        fclose(maps);
    }
    return found;
}

bool uprobe_attach(void *function)
{
    char path[512];
    struct perf_event_attr attributes = {.size = sizeof attributes, .inherit = 1};
    uint64_t offset;
    errno = ENOTSUP;
    if (!read_type(&attributes.type) || !find_place(function, path, &offset)) {
        return false;
    }
    attributes.config1 = (uintptr_t)path;
    attributes.config2 = offset;
    return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) >= 0;
}
