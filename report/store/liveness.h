/* Is the process of an unclosed store still there? Looked up in /proc once, when first asked. */
#ifndef WARPWATCH_LIVENESS_H
#define WARPWATCH_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct liveness {
    bool machine_known, processes_known;
    char boot_id[40];
    char host[64];
    struct living_process {
        uint64_t start_ticks;
        uint32_t pid;
    } * processes;
    size_t count, capacity;
};

bool liveness_same_boot(struct liveness *liveness, const char boot_id[40]);
bool liveness_same_host(struct liveness *liveness, const char host[64]);
/* The pid is that of the process's own namespace, so a container's processes are found too. */
bool liveness_runs(struct liveness *liveness, uint32_t pid, uint64_t start_ticks);
void liveness_free(struct liveness *liveness);

#endif
