/* Hooks of a shared libcudart: they mark a launch as made through the runtime and time the whole call. They
 * never count; every one of these calls reaches a hooked driver function.
 *
 * Each is exported once for each version of the runtime, under the version that the program's reference asks
 * for, so that a process with two runtimes gets to the right one. A reference to any other version does not
 * find us at all. */
#include "elf_object.h"
#include "loader.h"
#include "recorder.h"

struct runtime_dim3 {
    unsigned x, y, z;
};

enum runtime_version { RUNTIME_11, RUNTIME_12, RUNTIME_13, RUNTIME_VERSIONS };

enum runtime_api {
#define RUNTIME_HOOK(name, type, wrap, parameters, arguments) RUNTIME_##name,
#include "runtime_api.def"
    RUNTIME_API_COUNT
};

static const char *const sonames[RUNTIME_VERSIONS] = {"libcudart.so.11.0", "libcudart.so.12",
                                                      "libcudart.so.13"};

static const char *const names[RUNTIME_API_COUNT] = {
#define RUNTIME_HOOK(name, type, wrap, parameters, arguments) #name,
#include "runtime_api.def"
};

static _Atomic(void *) real_functions[RUNTIME_VERSIONS][RUNTIME_API_COUNT];
static _Atomic uint64_t known_generation;

static bool has_soname(const struct elf_object *object, const void *soname)
{
    return elf_same_name(object->soname, soname);
}

/* The next definition for everyone, else the runtime of that version that was mapped first: the loader binds
 * references to that one too. */
static void find_version(enum runtime_version version)
{
    struct elf_object runtime;
    bool mapped = elf_object_find(has_soname, sonames[version], &runtime);
    for (enum runtime_api api = 0; api < RUNTIME_API_COUNT; api++) {
        void *function = mapped ? loader_version_after_us(names[api], sonames[version]) : NULL;
        if (function == NULL && mapped) {
            function = elf_object_symbol(&runtime, names[api]);
        }
        store_relaxed(&real_functions[version][api], function);
    }
}

/* A runtime that was unloaded and came back elsewhere, or beside another, has its users register their
 * kernels. */
static void look_again(void)
{
    uint64_t generation = elf_object_generation();
    if (generation == load_acquire(&known_generation)) {
        return;
    }
    for (enum runtime_version version = 0; version < RUNTIME_VERSIONS; version++) {
        find_version(version);
    }
    store_release(&known_generation, generation);
}

static ALWAYS_INLINE void *real_function(enum runtime_version version, enum runtime_api api)
{
    void *function = load_relaxed(&real_functions[version][api]);
    if (UNLIKELY(function == NULL || api == RUNTIME___cudaRegisterFatBinary)) {
        look_again();
        function = load_relaxed(&real_functions[version][api]);
    }
    return function;
}

/* A call within a call belongs to the outer one. */
static ALWAYS_INLINE bool enter(void)
{
    bool outer = !thread.in_runtime;
    if (outer) {
        thread.runtime_start = recorder_start();
        thread.in_runtime = true;
    }
    return outer;
}

static ALWAYS_INLINE void leave(bool outer)
{
    if (outer) {
        recorder_runtime_returned(thread.runtime_start);
        thread.in_runtime = false;
        thread.runtime_start = 0;
    }
}

enum { NO_RUNTIME = 302 /* cudaErrorSharedObjectSymbolNotFound */ };

#define RUNTIME_LAUNCH(call)                                                                                 \
    if (UNLIKELY(real == NULL)) {                                                                            \
        return NO_RUNTIME;                                                                                   \
    }                                                                                                        \
    bool outer = enter();                                                                                    \
    int result = call;                                                                                       \
    leave(outer);                                                                                            \
    return result;

#define RUNTIME_REGISTRATION(call) return real ? call : NULL;

#define RUNTIME_ENTRY(name, version, soname, type, wrap, parameters, arguments)                              \
    EXPORT type runtime_##version##_##name parameters;                                                       \
    __asm__(".symver runtime_" #version "_" #name ", " #name "@" soname);                                    \
    type runtime_##version##_##name parameters                                                               \
    {                                                                                                        \
        type(*real) parameters = (type(*) parameters)real_function(version, RUNTIME_##name);                 \
        wrap(real arguments)                                                                                 \
    }

#define RUNTIME_HOOK(name, type, wrap, parameters, arguments)                                                \
    RUNTIME_ENTRY(name, RUNTIME_11, "libcudart.so.11.0", type, wrap, parameters, arguments)                  \
    RUNTIME_ENTRY(name, RUNTIME_12, "libcudart.so.12", type, wrap, parameters, arguments)                    \
    RUNTIME_ENTRY(name, RUNTIME_13, "libcudart.so.13", type, wrap, parameters, arguments)
#include "runtime_api.def"
