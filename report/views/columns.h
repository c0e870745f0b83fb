/* The configurations of a report as columns, for the page: a tenth of the bytes of one object each. */
#ifndef WARPWATCH_COLUMNS_H
#define WARPWATCH_COLUMNS_H

#include <stdio.h>

#include "store/merged.h"

/* {"waves":[1.5,2,…], "labels":{"values":[[],["persistent"]],"at":[0,1,…]}, "device":{"values":[0]}, …}: by
 * the name that a configuration has it under, a value for each in order, or the distinct values and which of
 * them each has, or the one that all have. Of
 * `by_process` a value is [process, launches, launches by graph, process, …]. False: out of memory. */
bool columns_write(const struct merged *merged, uint32_t kernels, FILE *out);

#endif
