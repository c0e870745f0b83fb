/* Answers dlsym, dlvsym and cuGetProcAddress. The two loader functions enter through an assembly stub that
 * jumps to the real one for every name that is not ours, so that the loader still sees who is asking:
 * RTLD_NEXT and RTLD_DEFAULT depend on it. An answer is replaced only if it is libcuda's own symbol.
 *
 * All of this may run before any constructor: no locks, no allocation, no stdio, no sanitizer. */
#include "lookup.h"

#include <dlfcn.h>
#include <link.h>

#include "driver.h"
#include "elf_object.h"
#include "profilers.h"
#include "runtime.h"

#define LIBRARY_NAME "libwarpwatch.so"

/* What the stubs do next: return `value`, or jump to `jump` with the caller's arguments. */
struct answer {
    void *value;
    void *jump;
};
HIDDEN struct answer lookup_dlsym(void *library, const char *name, const char *unused, const void *caller);
HIDDEN struct answer lookup_dlvsym(void *library, const char *name, const char *version, const void *caller);

typedef void *dlsym_function(void *library, const char *name);
typedef void *dlvsym_function(void *library, const char *name, const char *version);

static _Atomic(void *) next_dlsym, next_dlvsym;
static _Atomic(bool) disabled;

extern const char __ehdr_start HIDDEN, _end HIDDEN;

static bool is_ours(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)&__ehdr_start && (uintptr_t)address < (uintptr_t)&_end;
}

static const struct link_map *own_link_map(void)
{
    const struct link_map *map = _r_debug.r_map;
    while (map && map->l_ld != _DYNAMIC) {
        map = map->l_next;
    }
    return map;
}

/* Another interposer's dlsym comes before the loader's. Objects that were mapped at start-up stand in the
 * list in lookup order and before all others, so this never reaches one that another thread may be unloading.
 */
static void *first_in_link_maps(const struct link_map *from, const char *name)
{
    for (const struct link_map *map = from; map; map = map->l_next) {
        struct elf_object object;
        elf_object_from_dynamic(&object, map->l_name, map->l_addr, map->l_ld);
        void *address = map->l_ld == _DYNAMIC ? NULL : elf_object_symbol(&object, name);
        if (address) {
            return address;
        }
    }
    return NULL;
}

static void *next_in_link_maps(const char *name)
{
    const struct link_map *own = own_link_map();
    return first_in_link_maps(own ? own->l_next : _r_debug.r_map, name);
}

bool lookup_is_preloaded(void)
{
    return next_in_link_maps("dlsym") != NULL;
}

bool lookup_has_copy_before_us(void)
{
    const struct link_map *own = own_link_map();
    for (const struct link_map *map = _r_debug.r_map; own && map && map != own; map = map->l_next) {
        struct elf_object object;
        elf_object_from_dynamic(&object, map->l_name, map->l_addr, map->l_ld);
        if (elf_object_is(&object, LIBRARY_NAME)) {
            return true;
        }
    }
    return false;
}

static void *loader_function(_Atomic(void *) *known, const char *name)
{
    void *function = load_relaxed(known);
    if (UNLIKELY(function == NULL)) {
        function = next_in_link_maps(name);
        function = function ? function : first_in_link_maps(_r_debug.r_map, name);
        store_relaxed(known, function);
    }
    return function;
}

void *lookup_symbol(void *library, const char *name)
{
    dlsym_function *next = (dlsym_function *)loader_function(&next_dlsym, "dlsym");
    return next ? next(library, name) : NULL;
}

void *lookup_after_us(const char *name)
{
    /* The loader takes the caller, this library, as the place to search from: keep this from being a jump. */
    void *volatile address = lookup_symbol(RTLD_NEXT, name);
    return address;
}

void *lookup_version(void *library, const char *name, const char *version)
{
    dlvsym_function *next = (dlvsym_function *)loader_function(&next_dlvsym, "dlvsym");
    return next ? next(library, name, version) : NULL;
}

void *lookup_version_after_us(const char *name, const char *version)
{
    void *volatile address = lookup_version(RTLD_NEXT, name, version);
    return address;
}

void lookup_disable(void)
{
    store_relaxed(&disabled, true);
}

/* Before us in lookup order: the program itself, and libraries preloaded ahead. */
static bool defined_before_us(const char *name)
{
    const struct link_map *own = own_link_map();
    for (const struct link_map *map = _r_debug.r_map; map && map != own; map = map->l_next) {
        struct elf_object object;
        elf_object_from_dynamic(&object, map->l_name, map->l_addr, map->l_ld);
        if (elf_object_symbol(&object, name)) {
            return true;
        }
    }
    return false;
}

/* A name that only we define is not there as long as no driver is. */
static bool only_ours(const char *name)
{
    return !driver_is_mapped() && !defined_before_us(name);
}

/* What the program would find without this library, and without another copy of it: the loader's own answer,
 * which leaves its own error. */
static void *without_us(const char *name)
{
    void *address = lookup_after_us(name);
    struct elf_object object;
    bool copy = address && elf_object_holding(address, &object) && elf_object_is(&object, LIBRARY_NAME);
    return copy ? lookup_version_after_us(name, "none") : address;
}

static void *substitute(enum driver_api api, const char *name, void *address)
{
    if (address == NULL) {
        return NULL;
    }
    if (is_ours(address)) {
        return only_ours(name) ? without_us(name) : address;
    }
    bool watched = !load_relaxed(&disabled) && driver_api_of_address(address) == api;
    return watched ? driver_wrapper(api) : address;
}

extern HIDDEN void *own_dlsym(void *library, const char *name) __asm__("lookup_own_dlsym");
extern HIDDEN void *own_dlvsym(void *library, const char *name,
                               const char *version) __asm__("lookup_own_dlvsym");

static bool comes_before_us(const void *caller)
{
    struct elf_object object;
    bool before = false;
    const struct link_map *own = own_link_map();
    if (own && elf_object_holding(caller, &object)) {
        for (const struct link_map *map = _r_debug.r_map; map && map != own; map = map->l_next) {
            before = before || map->l_addr == object.base;
        }
    }
    return before;
}

/* Another interposer of dlsym that was loaded before us asks for the next one. It must name a version, and
 * versions are what our symbols do not have: the loader would pass us over. */
static void *next_lookup_function(void *library, const char *name, const void *caller)
{
    if (library != RTLD_NEXT || name == NULL || name[0] != 'd' || name[1] != 'l') {
        return NULL;
    }
    void *function = elf_same_name(name, "dlsym")    ? (void *)own_dlsym
                     : elf_same_name(name, "dlvsym") ? (void *)own_dlvsym
                                                     : NULL;
    return function && comes_before_us(caller) ? function : NULL;
}

/* "cuLaunchKernel" and its like, not "cudaLaunchKernel": most names that a program looks up end here. */
static bool is_driver_name(const char *name)
{
    return name && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

static enum driver_api wanted(const char *name, const void *caller)
{
    enum driver_api api = is_driver_name(name) ? driver_api_of_name(name) : API_COUNT;
    if (api == API_COUNT || driver_holds(caller)) {
        return API_COUNT;
    }
    runtime_note_caller(caller);
    return api;
}

/* RTLD_NEXT and RTLD_DEFAULT are for the loader to answer, who must see the caller. */
static bool decided(struct answer *answer, void *library, const char *name, enum driver_api api)
{
    if (LIKELY(api == API_COUNT) || library == RTLD_NEXT) {
        return true;
    }
    if (library != RTLD_DEFAULT) {
        return false;
    }
    if (only_ours(name)) {
        *answer = (struct answer){.value = without_us(name)};
    }
    return true;
}

/* CUPTI's functions are replaced only in what a certain library answers: anything else finds our exports. */
static bool answers_for_profiler(struct answer *answer, void *library, const char *name)
{
    enum profiler_api api = profilers_api_of_name(name);
    if (LIKELY(api == PROFILER_APIS) || library == RTLD_NEXT || load_relaxed(&disabled)) {
        return false;
    }
    if (library == RTLD_DEFAULT && profilers_are_possible()) {
        return false;
    }
    void *address =
        library == RTLD_DEFAULT ? lookup_after_us(name) : ((dlsym_function *)answer->jump)(library, name);
    *answer =
        (struct answer){.value = address && !is_ours(address) ? profilers_handed(api, address) : address};
    return true;
}

struct answer lookup_dlsym(void *library, const char *name, const char *unused, const void *caller)
{
    (void)unused;
    struct answer answer = {.jump = loader_function(&next_dlsym, "dlsym")};
    if (UNLIKELY(answers_for_profiler(&answer, library, name))) {
        return answer;
    }
    enum driver_api api = wanted(name, caller);
    if (decided(&answer, library, name, api) || answer.jump == NULL) {
        return answer;
    }
    void *address = ((dlsym_function *)answer.jump)(library, name);
    return (struct answer){.value = substitute(api, name, address)};
}

struct answer lookup_dlvsym(void *library, const char *name, const char *version, const void *caller)
{
    struct answer answer = {.jump = loader_function(&next_dlvsym, "dlvsym")};
    void *ours = next_lookup_function(library, name, caller);
    if (UNLIKELY(ours != NULL)) {
        return (struct answer){.value = ours};
    }
    enum driver_api api = wanted(name, caller);
    if (decided(&answer, library, name, api) || answer.jump == NULL) {
        return answer;
    }
    void *address = ((dlvsym_function *)answer.jump)(library, name, version);
    return (struct answer){.value = substitute(api, name, address)};
}

/* cuGetProcAddress answers with addresses of its exported symbols, whatever version and flags were asked for.
 * So the answer itself says what to replace it with. It is read on success only; it may be NULL even then. */
static void substitute_found(CUresult result, void **pointer, const void *caller)
{
    if (result != CUDA_SUCCESS || pointer == NULL || *pointer == NULL || load_relaxed(&disabled) ||
        driver_holds(caller)) {
        return;
    }
    enum driver_api api = driver_api_of_address(*pointer);
    if (api != API_COUNT) {
        runtime_note_caller(caller);
        *pointer = driver_wrapper(api);
    }
}

#define LOOKUP_HOOK(name, wrapper, parameters, arguments)                                                    \
    typedef CUresult name##_function parameters;                                                             \
    EXPORT name##_function name;                                                                             \
    HIDDEN name##_function handed_##name;                                                                    \
    static CUresult answer_##name(name##_function *real, const void *caller, UNPACK parameters)              \
    {                                                                                                        \
        CUresult result = real ? real arguments : CUDA_ERROR_NOT_INITIALIZED;                                \
        substitute_found(result, pointer, caller);                                                           \
        return result;                                                                                       \
    }                                                                                                        \
    CUresult name parameters                                                                                 \
    {                                                                                                        \
        return answer_##name(driver_next(API_##name), __builtin_return_address(0), UNPACK arguments);        \
    }                                                                                                        \
    CUresult handed_##name parameters                                                                        \
    {                                                                                                        \
        return answer_##name(driver_own(API_##name), __builtin_return_address(0), UNPACK arguments);         \
    }
#define UNPACK(...) __VA_ARGS__
#include "driver_api.def"
