/* What tells kernels of one short name apart. */
#ifndef WARPWATCH_DISTINGUISH_H
#define WARPWATCH_DISTINGUISH_H

#include <stddef.h>

/* For `count` demangled names the fewest words in which they differ, as many as tell them apart, four at
 * most: "128, bfloat16_t" and "64, bfloat16_t". Words of one name stand in its order. NULL for a name where
 * nothing tells. The caller frees each; returns 0, or -1 when memory is out. */
int names_distinguish(const char *const *names, size_t count, char **told);

#endif
