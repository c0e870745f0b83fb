/* Reads boot identity, host name and the processes of /proc. */
#include "liveness.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whole small file as text; false: not there. */
static bool read_text(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    size_t length = fread(text, 1, bytes - 1, file);
    fclose(file);
    text[length] = '\0';
    return true;
}

static void machine_read(struct liveness *liveness)
{
    if (liveness->machine_known) {
        return;
    }
    liveness->machine_known = true;
    if (read_text("/proc/sys/kernel/random/boot_id", liveness->boot_id, sizeof liveness->boot_id)) {
        liveness->boot_id[strcspn(liveness->boot_id, "\n")] = '\0';
    }
    gethostname(liveness->host, sizeof liveness->host - 1);
}

bool liveness_same_boot(struct liveness *liveness, const char boot_id[40])
{
    machine_read(liveness);
    return liveness->boot_id[0] && strncmp(liveness->boot_id, boot_id, sizeof liveness->boot_id) == 0;
}

bool liveness_same_host(struct liveness *liveness, const char host[64])
{
    machine_read(liveness);
    return strncmp(liveness->host, host, sizeof liveness->host) == 0;
}

/* Field 22 of /proc/<pid>/stat, counted behind the command's closing parenthesis; 0: none. */
static uint64_t start_ticks_of(const char *directory)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", directory);
    char *field = read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    for (int i = 2; field && i < 22; i++) {
        field = strchr(field + 1, ' ');
    }
    return field ? strtoull(field, NULL, 10) : 0;
}

/* The last number of the NSpid line: the pid in the innermost namespace. */
static uint32_t innermost_pid_of(const char *directory)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%.20s/status", directory);
    char *line = read_text(path, text, sizeof text) ? strstr(text, "\nNSpid:") : NULL;
    if (!line) {
        return (uint32_t)strtoul(directory, NULL, 10);
    }
    line[1 + strcspn(line + 1, "\n")] = '\0';
    return (uint32_t)strtoul(strrchr(line, '\t') + 1, NULL, 10);
}

static bool process_append(struct liveness *liveness, struct living_process process)
{
    if (liveness->count == liveness->capacity) {
        size_t capacity = liveness->capacity ? 2 * liveness->capacity : 256;
        void *grown = realloc(liveness->processes, capacity * sizeof process);
        if (!grown) {
            return false;
        }
        liveness->processes = grown;
        liveness->capacity = capacity;
    }
    liveness->processes[liveness->count++] = process;
    return true;
}

static void processes_read(struct liveness *liveness)
{
    DIR *proc = liveness->processes_known ? NULL : opendir("/proc");
    liveness->processes_known = true;
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        if (isdigit((unsigned char)entry->d_name[0]) &&
            !process_append(liveness, (struct living_process){start_ticks_of(entry->d_name),
                                                              innermost_pid_of(entry->d_name)})) {
            break;
        }
    }
    if (proc) {
        closedir(proc);
    }
}

bool liveness_runs(struct liveness *liveness, uint32_t pid, uint64_t start_ticks)
{
    processes_read(liveness);
    for (size_t i = 0; i < liveness->count; i++) {
        if (liveness->processes[i].pid == pid && liveness->processes[i].start_ticks == start_ticks) {
            return true;
        }
    }
    return false;
}

void liveness_free(struct liveness *liveness)
{
    free(liveness->processes);
    liveness->processes = NULL;
}
