/* Finds libcuda and the functions in it. Compiled without sanitizers, because lookups come here from dlsym,
 * and without locks: several threads may do the same work at once and write the same answers. */
#include "driver.h"

#include "elf_object.h"
#include "loader.h"

_Atomic(void *) driver_own_functions[API_COUNT];
_Atomic(void *) driver_next_functions[API_COUNT];

static struct driver_queries queries;
static struct elf_object driver;
static _Atomic(uintptr_t) driver_start, driver_end;

static const char *const api_names[API_COUNT] = {
#define ANY_HOOK(name, wrapper, parameters, arguments) #name,
#include "driver_api.def"
};

#define ANY_HOOK(name, wrapper, parameters, arguments) extern HIDDEN CUresult handed_##name parameters;
#include "driver_api.def"

static void *const wrappers[API_COUNT] = {
#define ANY_HOOK(name, wrapper, parameters, arguments) (void *)handed_##name,
#include "driver_api.def"
};

enum driver_api driver_api_of_name(const char *name)
{
    enum driver_api api = 0;
    while (api < API_COUNT && !elf_same_name(api_names[api], name)) {
        api++;
    }
    return api;
}

void *driver_wrapper(enum driver_api api)
{
    return wrappers[api];
}

static bool is_driver(const struct elf_object *object, const void *argument)
{
    (void)argument;
    return elf_object_is(object, "libcuda.so");
}

static void identify(const struct elf_object *object)
{
    driver = *object;
    for (enum driver_api api = 0; api < API_COUNT; api++) {
        store_relaxed(&driver_own_functions[api], elf_object_symbol(object, api_names[api]));
    }
#define QUERY(name, parameters) *(void **)&queries.name = elf_object_symbol(object, #name);
#include "driver_queries.def"
    store_release(&driver_start, object->start);
    store_release(&driver_end, object->end);
}

static bool identify_mapped(void)
{
    struct elf_object object;
    if (!elf_object_find(is_driver, NULL, &object)) {
        return false;
    }
    identify(&object);
    return true;
}

bool driver_is_mapped(void)
{
    struct elf_object object;
    return elf_object_find(is_driver, NULL, &object);
}

bool driver_holds(const void *address)
{
    return (uintptr_t)address >= load_acquire(&driver_start) &&
           (uintptr_t)address < load_acquire(&driver_end);
}

static enum driver_api known_address(const void *address)
{
    enum driver_api api = 0;
    while (api < API_COUNT && load_relaxed(&driver_own_functions[api]) != address) {
        api++;
    }
    return api;
}

/* The driver may be closed and opened again elsewhere: an address outside of what we know is looked at anew.
 */
enum driver_api driver_api_of_address(const void *address)
{
    enum driver_api api = known_address(address);
    struct elf_object object;
    if (api < API_COUNT || driver_holds(address) || !elf_object_holding(address, &object) ||
        !is_driver(&object, NULL)) {
        return api;
    }
    identify(&object);
    return known_address(address);
}

void *driver_resolve_own(enum driver_api api)
{
    identify_mapped();
    return load_relaxed(&driver_own_functions[api]);
}

void *driver_resolve_next(enum driver_api api)
{
    void *next = loader_after_us(api_names[api]);
    if (next == NULL) {
        next = driver_own(api);
    }
    store_relaxed(&driver_next_functions[api], next);
    return next;
}

const struct driver_queries *driver_query(void)
{
    if (UNLIKELY(load_acquire(&driver_end) == 0)) {
        identify_mapped();
    }
    return &queries;
}

void *driver_symbol(const char *name)
{
    driver_query();
    return elf_object_symbol(&driver, name);
}
