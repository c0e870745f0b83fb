/* WARPWATCH_FILTER: kernels whose (mangled) name it does not match are counted in one line. */
#ifndef WARPWATCH_FILTER_H
#define WARPWATCH_FILTER_H

#include <stdbool.h>

/* Compiles the expression; false if it is not one. */
bool filter_open(const char *expression);
bool filter_leaves_out(const char *kernel);

#endif
