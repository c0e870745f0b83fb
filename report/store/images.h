/* What only a kernel's image says. */
#ifndef WARPWATCH_IMAGES_H
#define WARPWATCH_IMAGES_H

#include "merged.h"

/* Looks up the barriers of kernels of which the driver allows fewer blocks than all other limits explain, if
 * their image is a file of moderate size on this machine. After judge_all; true: something was learned, judge
 * again. */
bool images_look_up(struct merged *merged);

#endif
