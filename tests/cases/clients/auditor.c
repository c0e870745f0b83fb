/* An LD_AUDIT library that watches every binding. */
#include <link.h>

unsigned la_version(unsigned version)
{
    return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    (void)map, (void)namespace, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                       const char *name)
{
    (void)index, (void)from, (void)to, (void)flags, (void)name;
    return symbol->st_value;
}
