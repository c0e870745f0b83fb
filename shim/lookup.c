/* Answers dlsym, dlvsym and cuGetProcAddress. The two loader functions enter through an assembly stub that
 * jumps to the real one for every name that is not ours, so that the loader still sees who is asking:
 * RTLD_NEXT and RTLD_DEFAULT depend on it. An answer is replaced only if it is libcuda's own symbol.
 *
 * All of this may run before any constructor: no locks, no allocation, no stdio, no sanitizer. */
#include "lookup.h"

#include <dlfcn.h>

#include "driver.h"
#include "elf_object.h"
#include "loader.h"
#include "profilers.h"
#include "runtime.h"

/* What the stubs do next: return `value`, or jump to `jump` with the caller's arguments. */
struct answer {
    void *value;
    void *jump;
};
HIDDEN struct answer lookup_dlsym(void *library, const char *name, const char *unused, const void *caller);
HIDDEN struct answer lookup_dlvsym(void *library, const char *name, const char *version, const void *caller);

static _Atomic(bool) disabled;

void lookup_disable(void)
{
    store_relaxed(&disabled, true);
}

/* A name that only we define is not there as long as no driver is. */
static bool only_ours(const char *name)
{
    return !driver_is_mapped() && !loader_defined_before_us(name);
}

static void *substitute(enum driver_api api, const char *name, void *address)
{
    if (address == NULL) {
        return NULL;
    }
    if (loader_is_ours(address)) {
        return only_ours(name) ? loader_without_us(name) : address;
    }
    bool watched = !load_relaxed(&disabled) && driver_api_of_address(address) == api;
    return watched ? driver_wrapper(api) : address;
}

extern HIDDEN void *own_dlsym(void *library, const char *name) __asm__("lookup_own_dlsym");
extern HIDDEN void *own_dlvsym(void *library, const char *name,
                               const char *version) __asm__("lookup_own_dlvsym");

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
    return function && loader_is_before_us(caller) ? function : NULL;
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
        *answer = (struct answer){.value = loader_without_us(name)};
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
    void *address = library == RTLD_DEFAULT ? loader_after_us(name) : loader_symbol(library, name);
    *answer = (struct answer){.value = address && !loader_is_ours(address) ? profilers_handed(api, address)
                                                                           : address};
    return true;
}

struct answer lookup_dlsym(void *library, const char *name, const char *unused, const void *caller)
{
    (void)unused;
    struct answer answer = {.jump = loader_dlsym()};
    if (UNLIKELY(answers_for_profiler(&answer, library, name))) {
        return answer;
    }
    enum driver_api api = wanted(name, caller);
    if (decided(&answer, library, name, api) || answer.jump == NULL) {
        return answer;
    }
    void *address = loader_symbol(library, name);
    return (struct answer){.value = substitute(api, name, address)};
}

struct answer lookup_dlvsym(void *library, const char *name, const char *version, const void *caller)
{
    struct answer answer = {.jump = loader_dlvsym()};
    void *ours = next_lookup_function(library, name, caller);
    if (UNLIKELY(ours != NULL)) {
        return (struct answer){.value = ours};
    }
    enum driver_api api = wanted(name, caller);
    if (decided(&answer, library, name, api) || answer.jump == NULL) {
        return answer;
    }
    void *address = loader_version(library, name, version);
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
