/* GPUs that people use: name, capability, SM count, memory and where the figures are published.
 * For work without a device; at run time the driver's own answer decides. Explained in docs/devices.md. */
#ifndef WARPWATCH_DEVICES_H
#define WARPWATCH_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

struct device {
    const char *name;    /* as options take it: "h200" */
    const char *product; /* as the vendor calls it: "NVIDIA H200" */
    int compute_capability;
    int sms;
    int memory_gb;   /* 10⁹ bytes, as advertised; 0 unknown */
    int gpcs;        /* graphics processing clusters, each with an equal or nearly equal share; 0 unknown */
    int sms_per_gpc; /* of a complete one: no GPC has more; 0 unknown */
    const char *source;
};

extern const struct device devices[];
extern const size_t devices_count;

/* The built-in device of that name or product; case, blanks and punctuation do not matter, nor do the words
 * NVIDIA, Tesla and GeForce, nor a trailing "(simulated)". NULL: none. */
const struct device *device_find(const char *name);

/* Equal in the sense of device_find. */
bool device_name_matches(const char *left, const char *right);

#endif
