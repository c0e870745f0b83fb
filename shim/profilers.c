/* Hooks of the functions with which a profiler begins. They take up to four pointers, which are passed on as
 * they are. Reached from lookups, so without sanitizers. */
#include "profilers.h"

#include "elf_object.h"
#include "loader.h"
#include "plugin_host.h"

enum { NOT_INITIALIZED = 15 }; /* CUPTI_ERROR_NOT_INITIALIZED */

typedef int profiler_function(void *, void *, void *, void *);

static const char *const names[PROFILER_APIS] = {
    [PROFILER_cuptiSubscribe] = "cuptiSubscribe",
    [PROFILER_cuptiSubscribe_v2] = "cuptiSubscribe_v2",
    [PROFILER_cuptiActivityRegisterCallbacks] = "cuptiActivityRegisterCallbacks",
    [PROFILER_cuptiProfilerInitialize] = "cuptiProfilerInitialize",
};

static _Atomic(void *) looked_up[PROFILER_APIS];

enum profiler_api profilers_api_of_name(const char *name)
{
    if (name == NULL || name[0] != 'c' || name[1] != 'u' || name[2] != 'p' || name[3] != 't') {
        return PROFILER_APIS;
    }
    enum profiler_api api = 0;
    while (api < PROFILER_APIS && !elf_same_name(names[api], name)) {
        api++;
    }
    return api;
}

static bool is_cupti(const struct elf_object *object, const void *unused)
{
    (void)unused;
    return elf_object_is(object, "libcupti.so");
}

bool profilers_are_possible(void)
{
    struct elf_object object;
    return elf_object_find(is_cupti, NULL, &object);
}

/* A library that was opened with its own scope, as Python opens PyTorch, brings a libcupti that is in no one
 * else's. */
static void *real_function(enum profiler_api api)
{
    struct elf_object object;
    void *next = loader_after_us(names[api]);
    return next                                       ? next
           : elf_object_find(is_cupti, NULL, &object) ? elf_object_symbol(&object, names[api])
                                                      : NULL;
}

static int begin(void *real, void *a, void *b, void *c, void *d)
{
    if (real == NULL) {
        return NOT_INITIALIZED;
    }
    if (plugin_is_wanted()) {
        plugin_other_profiler();
    }
    return ((profiler_function *)real)(a, b, c, d);
}

#define PROFILER_HOOK(name)                                                                                  \
    EXPORT profiler_function name;                                                                           \
    int name(void *a, void *b, void *c, void *d)                                                             \
    {                                                                                                        \
        return begin(real_function(PROFILER_##name), a, b, c, d);                                            \
    }                                                                                                        \
    static int handed_##name(void *a, void *b, void *c, void *d)                                             \
    {                                                                                                        \
        return begin(load_relaxed(&looked_up[PROFILER_##name]), a, b, c, d);                                 \
    }
PROFILER_HOOK(cuptiSubscribe)
PROFILER_HOOK(cuptiSubscribe_v2)
PROFILER_HOOK(cuptiActivityRegisterCallbacks)
PROFILER_HOOK(cuptiProfilerInitialize)

void *profilers_handed(enum profiler_api api, void *real)
{
    static profiler_function *const handed[PROFILER_APIS] = {
        [PROFILER_cuptiSubscribe] = handed_cuptiSubscribe,
        [PROFILER_cuptiSubscribe_v2] = handed_cuptiSubscribe_v2,
        [PROFILER_cuptiActivityRegisterCallbacks] = handed_cuptiActivityRegisterCallbacks,
        [PROFILER_cuptiProfilerInitialize] = handed_cuptiProfilerInitialize,
    };
    if (!plugin_is_wanted()) {
        return real;
    }
    store_relaxed(&looked_up[api], real);
    return (void *)handed[api];
}
