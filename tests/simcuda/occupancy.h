/* Occupancy as NVIDIA's own cuda_occupancy.h computes it: independent of the model that is tested against it.
 */
#ifndef SIMCUDA_OCCUPANCY_H
#define SIMCUDA_OCCUPANCY_H

#include "function.h"

/* Blocks resident on one SM, less SIMCUDA_BLOCKS_PER_SM_PENALTY. */
int occupancy_blocks(const struct CUfunc_st *function, int threads, size_t dynamic_shared_bytes);

/* Clusters resident on the device at once: a cluster stays inside one GPC. */
int occupancy_clusters(const struct CUfunc_st *function, int threads, size_t dynamic_shared_bytes,
                       unsigned cluster_blocks);

#endif
