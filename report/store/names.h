/* Fills name and short_name of every kernel, in the order of the kernels. False: out of memory. */
#ifndef WARPWATCH_STORE_NAMES_H
#define WARPWATCH_STORE_NAMES_H

#include "merged.h"

bool names_assign(struct merged *merged);

#endif
