/* Finds the one libcupti to use in this process and fills a table of its functions. */
#ifndef WARPWATCH_CUPTI_LOADER_H
#define WARPWATCH_CUPTI_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

enum cupti_part {
    CUPTI_PART_NONE = 0, /* does as well without the function */
    CUPTI_PART_BASE = 1u << 0,
    CUPTI_PART_TIMING = 1u << 1,
    CUPTI_PART_COUNTERS = 1u << 2,
    CUPTI_PART_INJECTION = 1u << 3
};

struct cupti_api {
#define CUPTI_FUNCTION(name, part) __typeof__(&name) name;
#include "cupti/api.def"
#undef CUPTI_FUNCTION
    unsigned parts;      /* enum cupti_part: those whose functions are all there */
    uint32_t version;    /* as cuptiGetVersion answers, e.g. 130000 */
    char path[4096];     /* what was opened */
    bool already_mapped; /* somebody else in this process brought it */
};

struct cupti_loader_services {
    void *(*library_open)(const char *path, int flags);
    void *(*library_symbol)(void *library, const char *name);
    int driver_version; /* as cuDriverGetVersion answers; 0 unknown */
};

/* Order: a libcupti already mapped; $WARPWATCH_CUPTI; the loader's path; beside a mapped libcudart (pip
 * layouts); the toolkit ($CUDA_HOME, /usr/local/cuda-<major>.<minor>, /usr/local/cuda). Opens libnvperf_host
 * from the same folder first: libcupti looks for it by bare name only. Never closes anything: closing
 * libcupti 13 crashes. false: none was found; api->path then names the last place tried. */
bool cupti_load(const struct cupti_loader_services *services, struct cupti_api *api);

#endif
