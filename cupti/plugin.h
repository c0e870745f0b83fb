/* The seam between the shim and libwarpwatch_cupti.so, which the shim opens only when timing or counters are
 * asked for. The shim calls `warpwatch_plugin_open` once, after cuInit and before the process's first module
 * or library is loaded, and then the functions of the returned table around launches. Everything the plugin
 * may use of the process comes through `struct plugin_services`: it links against nothing but libc. */
#ifndef WARPWATCH_PLUGIN_H
#define WARPWATCH_PLUGIN_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/store_format.h"

#define PLUGIN_VERSION 2u

struct plugin_settings {
    bool timing, counters;
    bool graph_nodes;    /* timing of every kernel in a graph, not of its replays as a whole */
    bool other_profiler; /* has already called CUPTI in this process */
};

struct plugin_services {
    struct plugin_settings settings;
    /* The loader's own functions, not the shim's wrappers. */
    void *(*library_open)(const char *path, int flags);
    void *(*library_symbol)(void *library, const char *name);
    /* libcuda's own function, past every wrapper; NULL if the driver has none. Calls through it are never
     * counted. */
    void *(*driver_symbol)(const char *name);
    /* The configuration's measurement record in the store, made on first use; NULL when the store is full.
     * The plugin is its only writer. */
    struct store_measurement *(*measurement)(uint32_t configuration);
    /* The same for replays of a graph that launches this body. */
    struct store_measurement *(*body_measurement)(uint32_t body);
    /* The configuration that the body's nodes from `place` on run, STORE_NO_TARGET beyond the last. */
    uint32_t (*body_configuration)(uint32_t body, uint32_t place);
    const struct store_configuration *(*configuration)(uint32_t configuration);
    const char *(*kernel_name)(
        uint32_t configuration); /* mangled, terminated, lives as long as the process */
    /* One line on stderr, prefixed; not more than a few in a process; respects WARPWATCH_QUIET. */
    void (*complain)(const char *line);
    void (*set_feature)(uint64_t store_feature_bits);
};

struct plugin_launch {
    uint32_t configuration; /* STORE_NO_TARGET in `before` of the first launch of it; known in `after` */
    uint32_t body; /* graph launches: the same; their configuration is STORE_NO_TARGET, others' body */
    CUfunction function;
    CUstream stream; /* as passed: 0, 1 and 2 mean the default streams */
    bool per_thread_default_stream;
    bool is_graph; /* `function` is a CUgraphExec */
    bool captures; /* some stream is being captured: nothing may be added to a stream, or waited for */
};

/* Every function may be NULL. They run on the launching thread, inside the shim's hook: driver calls made
 * there are passed on and not counted. */
struct plugin_hooks {
    /* Before the real launch; the token goes to `after`. 0: nothing to do, `after` is not called. */
    uint64_t (*before)(const struct plugin_launch *launch);
    void (*after)(const struct plugin_launch *launch, uint64_t token, CUresult result);
    /* Before the real cuCtxDestroy, cuDevicePrimaryCtxRelease/Reset: finish what is under way in it. */
    void (*context_ending)(CUcontext context);
    void (*forked)(void); /* in the child: go inert, touch nothing */
    /* Another profiler is about to use CUPTI: give back all that it may need, for good. Any thread. */
    void (*yield)(void);
};

/* Without the preload: the driver opens the plugin by itself (CUDA_INJECTION64_PATH), which opens
 * libwarpwatch.so and calls its hooks, the exported functions of the driver's names, with what CUPTI's
 * callbacks tell. */
struct plugin_recording {
    uint32_t version;
    uint64_t (*now_ticks)(void);
    /* Right before the hook of a call that has ended, which then records it as if it were under way. False:
     * the call is the recorder's own, leave the hook alone. */
    bool (*answered)(CUresult result, uint64_t began_ticks);
    /* In the place of the hooks of cuGraphExecDestroy, and of cuModuleUnload and cuLibraryUnload: before the
     * call, since another thread may be given the same handle in it, and after. */
    uint32_t (*graph_ending)(void *exec);
    void (*graph_ended)(uint32_t ending, bool really);
    uint32_t (*owner_ending)(void *module_or_library);
    void (*owner_ended)(uint32_t ending, bool really);
    void (*complain)(const char *line);
};
/* Exported by libwarpwatch.so: NULL where it is preloaded, which sees the calls by itself, or disabled. */
__attribute__((visibility("default"))) const struct plugin_recording *
warpwatch_recording_open(uint32_t version);

/* Exported by libwarpwatch_cupti.so, looked at before anything of it is called. */
__attribute__((visibility("default"))) extern const uint32_t warpwatch_plugin_version;

typedef const struct plugin_hooks *plugin_open_function(const struct plugin_services *services);
/* Exported by libwarpwatch_cupti.so: NULL when nothing can be measured (said through `complain`). */
__attribute__((visibility("default"))) plugin_open_function warpwatch_plugin_open;

#endif
