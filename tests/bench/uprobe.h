/* The kernel's own way to watch calls of a function: a breakpoint that it counts. */
#ifndef WARPWATCH_BENCH_UPROBE_H
#define WARPWATCH_BENCH_UPROBE_H

#include <stdbool.h>

/* For this process and its threads, until it ends. False: errno says why. */
bool uprobe_attach(void *function);

#endif
