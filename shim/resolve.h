/* What a launch counts as, when the hot path has not seen its like: asks the driver, once, what it is. */
#ifndef WARPWATCH_RESOLVE_H
#define WARPWATCH_RESOLVE_H

#include "launch.h"

/* The STORE_TARGET that the launch counts for, STORE_NO_TARGET if there is no room. `words` is NULL for a
 * shape that cannot be kept as a key. */
uint32_t resolve(const struct launch *launch, const struct launch_words *words);
bool resolve_is_capturing(CUstream stream, uint64_t extras);
/* The context of a launch, for telling devices apart. */
uint64_t resolve_place(const struct launch_words *words, CUstream stream);

#endif
