/* What the environment asks for, read once when the library is loaded. */
#ifndef WARPWATCH_SETTINGS_H
#define WARPWATCH_SETTINGS_H

#include <limits.h>

#include "platform.h"

struct settings {
    uint32_t run; /* WARPWATCH_RUN, by which `warpwatch run` knows its own stores; 0 none */
    bool disabled, quiet, timing, timing_nodes, counters, trace, times;
    uint64_t trace_bytes;  /* what a trace may take of the store */
    char output[PATH_MAX]; /* absolute; "" if it could not be found out */
    char live[PATH_MAX];   /* "" = decide by file system */
    char filter[1024];
    char report[64];
    char problems[8][200]; /* wrong values, each to be said at the first launch */
    uint32_t problem_count;
};

extern HIDDEN struct settings settings;
void settings_read(void);

#endif
