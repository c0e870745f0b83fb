/* The arithmetic of the report: occupancy, waves and labels of every configuration, from what the stores say.
 */
#ifndef WARPWATCH_JUDGE_H
#define WARPWATCH_JUDGE_H

#include "merged.h"
#include "model/devices.h"
#include "model/lift.h"
#include "model/occupancy.h"

/* Judges one configuration on a device; `own`: it ran there, so the driver's answers and the context's SMs
 * hold. `barriers`: of the kernel, MERGED_NONE unknown. */
struct judgement judge_configuration(const struct merged_kernel *kernel,
                                     const struct merged_configuration *configuration,
                                     const struct merged_device *device, bool own, uint32_t barriers);

/* What the model computes from, for advice that tries other launches. False: not known well enough. */
bool judge_inputs(const struct merged_kernel *kernel, const struct merged_configuration *configuration,
                  const struct merged_device *device, uint32_t barriers, struct occupancy_sm *sm,
                  struct occupancy_launch *launch);

/* What would let more warps reside on an SM: see model/lift.h. Returns their number, 0 where occupancy is
 * full or the driver, not a resource, is what limits it. */
int judge_lifts(const struct merged *merged, const struct merged_configuration *configuration,
                struct lift lifts[LIFTS_MAX]);

/* Fills labels, `judged`, the sums of waste and, where merged->elsewhere is set, `elsewhere`. May be done
 * again after more was learned. */
void judge_all(struct merged *merged);

/* A GPU by its published figures, for merged->elsewhere. NULL: out of memory. */
const struct merged_device *judge_listed_device(struct merged *merged, const struct device *listed);

#endif
