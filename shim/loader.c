/* The loader's own lookup functions, and where this library stands among what was loaded. Before any
 * constructor, as lookup.c. */
#include "loader.h"

#include <dlfcn.h>
#include <link.h>

#include "elf_object.h"

#define LIBRARY_NAME "libwarpwatch.so"

typedef void *dlsym_function(void *library, const char *name);
typedef void *dlvsym_function(void *library, const char *name, const char *version);

static _Atomic(void *) next_dlsym, next_dlvsym;

extern const char __ehdr_start HIDDEN, _end HIDDEN;

bool loader_is_ours(const void *address)
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

bool loader_is_preloaded(void)
{
    return next_in_link_maps("dlsym") != NULL;
}

bool loader_has_copy_before_us(void)
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

static void *own_function(_Atomic(void *) *known, const char *name)
{
    void *function = load_relaxed(known);
    if (UNLIKELY(function == NULL)) {
        function = next_in_link_maps(name);
        function = function ? function : first_in_link_maps(_r_debug.r_map, name);
        store_relaxed(known, function);
    }
    return function;
}

void *loader_dlsym(void)
{
    return own_function(&next_dlsym, "dlsym");
}

void *loader_dlvsym(void)
{
    return own_function(&next_dlvsym, "dlvsym");
}

void *loader_symbol(void *library, const char *name)
{
    dlsym_function *next = (dlsym_function *)loader_dlsym();
    return next ? next(library, name) : NULL;
}

void *loader_after_us(const char *name)
{
    /* The loader takes the caller, this library, as the place to search from: keep this from being a jump. */
    void *volatile address = loader_symbol(RTLD_NEXT, name);
    return address;
}

void *loader_version(void *library, const char *name, const char *version)
{
    dlvsym_function *next = (dlvsym_function *)loader_dlvsym();
    return next ? next(library, name, version) : NULL;
}

void *loader_version_after_us(const char *name, const char *version)
{
    void *volatile address = loader_version(RTLD_NEXT, name, version);
    return address;
}

bool loader_defined_before_us(const char *name)
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

bool loader_is_before_us(const void *caller)
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

void *loader_without_us(const char *name)
{
    void *address = loader_after_us(name);
    struct elf_object object;
    bool copy = address && elf_object_holding(address, &object) && elf_object_is(&object, LIBRARY_NAME);
    return copy ? loader_version_after_us(name, "none") : address;
}
