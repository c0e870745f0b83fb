/* Loaded ELF objects: which one holds an address, and what a name means in one of them, without the loader's
 * name lookup. Safe at any time, also before the C library has run its constructors. */
#ifndef WARPWATCH_ELF_OBJECT_H
#define WARPWATCH_ELF_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_object {
    const char *path;     /* as the loader names it; "" for the program itself */
    const char *soname;   /* "" if it has none */
    uintptr_t base;       /* what the loader added to its addresses */
    uintptr_t start, end; /* mapped range; 0, 0 when made from a link map */
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
};

typedef bool elf_object_test(const struct elf_object *object, const void *argument);

void elf_object_from_dynamic(struct elf_object *object, const char *path, uintptr_t base,
                             const ElfW(Dyn) * dynamic);
/* Address of a defined function, NULL if the object does not define the name. Versions are not looked at. */
void *elf_object_symbol(const struct elf_object *object, const char *name);
/* First loaded object that passes the test. */
bool elf_object_find(elf_object_test *test, const void *argument, struct elf_object *found);
bool elf_object_holding(const void *address, struct elf_object *found);

/* Changes whenever an object is loaded or unloaded. */
uint64_t elf_object_generation(void);

/* Is the object a library of this name, whatever its version: elf_object_is(o, "libcuda.so")? */
bool elf_object_is(const struct elf_object *object, const char *library);
bool elf_same_name(const char *a, const char *b);

#endif
