/* Fills odd_ranks: which ranks launched what more or less often than most, the largest difference first.
 * After merged_select, since it names kernels by index. False: out of memory. */
#ifndef WARPWATCH_RANKS_H
#define WARPWATCH_RANKS_H

#include "merged.h"

bool ranks_compare(struct merged *merged);

#endif
