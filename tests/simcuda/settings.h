/* What SIMCUDA_* variables change about the driver; each is documented in README.md. Read at cuInit. */
#ifndef SIMCUDA_SETTINGS_H
#define SIMCUDA_SETTINGS_H

#include <stdbool.h>

struct settings {
    int driver_version;        /* 13000 = 13.0 */
    int blocks_per_sm_penalty; /* subtracted from every occupancy answer */
    bool self_lookup;          /* the driver looks up its own functions, as some versions do */
    bool eager_loading;        /* CUDA_MODULE_LOADING=EAGER */
};
extern struct settings settings;

void settings_read(void);

#endif
