/* Walks the loader's list of objects and their hash tables. Compiled without sanitizers: these functions run
 * inside dlsym, before a sanitizer's runtime is ready, hence also the own string comparison. */
#include "elf_object.h"

#include "platform.h"

bool elf_same_name(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static const char *base_name(const char *path)
{
    const char *name = path;
    for (const char *p = path; *p; p++) {
        if (*p == '/') {
            name = p + 1;
        }
    }
    return name;
}

static bool has_prefix(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix) {
        text++;
        prefix++;
    }
    return *prefix == '\0';
}

bool elf_object_is(const struct elf_object *object, const char *library)
{
    return has_prefix(object->soname, library) || has_prefix(base_name(object->path), library);
}

/* The loader relocates most of these pointers in place, but not in every object (the vdso). */
static const void *dynamic_pointer(uintptr_t base, const ElfW(Dyn) * entry)
{
    return (const void *)(entry->d_un.d_ptr < base ? base + entry->d_un.d_ptr : entry->d_un.d_ptr);
}

void elf_object_from_dynamic(struct elf_object *object, const char *path, uintptr_t base,
                             const ElfW(Dyn) * dynamic)
{
    *object = (struct elf_object){.path = path, .soname = "", .base = base};
    uint64_t soname = 0;
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            object->symbols = dynamic_pointer(base, entry);
            break;
        case DT_STRTAB:
            object->strings = dynamic_pointer(base, entry);
            break;
        case DT_GNU_HASH:
            object->gnu_hash = dynamic_pointer(base, entry);
            break;
        case DT_HASH:
            object->sysv_hash = dynamic_pointer(base, entry);
            break;
        case DT_SONAME:
            soname = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (soname && object->strings) {
        object->soname = object->strings + soname;
    }
}

static void *symbol_address(const struct elf_object *object, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &object->symbols[index];
    bool defined = symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0;
    if (!defined || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) {
        return NULL;
    }
    return elf_same_name(object->strings + symbol->st_name, name) ? (void *)(object->base + symbol->st_value)
                                                                  : NULL;
}

static void *gnu_lookup(const struct elf_object *object, const char *name)
{
    uint32_t hash = 5381;
    for (const char *p = name; *p; p++) {
        hash = hash * 33 + (unsigned char)*p;
    }
    uint32_t buckets = object->gnu_hash[0], first = object->gnu_hash[1], bloom_words = object->gnu_hash[2];
    const uint32_t *bucket = object->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t index = buckets ? bucket[hash % buckets] : 0;
    if (index < first) {
        return NULL;
    }
    for (;; index++) {
        uint32_t entry = chain[index - first];
        void *address = (entry | 1) == (hash | 1) ? symbol_address(object, index, name) : NULL;
        if (address || (entry & 1)) {
            return address;
        }
    }
}

static void *sysv_lookup(const struct elf_object *object, const char *name)
{
    uint32_t hash = 0;
    for (const char *p = name; *p; p++) {
        hash = (hash << 4) + (unsigned char)*p;
        hash = (hash ^ ((hash & 0xf0000000u) >> 24)) & 0x0fffffffu;
    }
    uint32_t buckets = object->sysv_hash[0];
    const uint32_t *bucket = object->sysv_hash + 2, *chain = bucket + buckets;
    for (uint32_t index = buckets ? bucket[hash % buckets] : 0; index; index = chain[index]) {
        void *address = symbol_address(object, index, name);
        if (address) {
            return address;
        }
    }
    return NULL;
}

void *elf_object_symbol(const struct elf_object *object, const char *name)
{
    if (!object->symbols || !object->strings) {
        return NULL;
    }
    if (object->gnu_hash) {
        return gnu_lookup(object, name);
    }
    return object->sysv_hash ? sysv_lookup(object, name) : NULL;
}

struct search {
    elf_object_test *test;
    const void *argument;
    struct elf_object *found;
};

static int search_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct search *search = data;
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t address = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_DYNAMIC) {
            dynamic = (const void *)address;
        } else if (segment->p_type == PT_LOAD) {
            start = address < start ? address : start;
            end = address + segment->p_memsz > end ? address + segment->p_memsz : end;
        }
    }
    struct elf_object object;
    elf_object_from_dynamic(&object, info->dlpi_name ? info->dlpi_name : "", info->dlpi_addr, dynamic);
    object.start = start;
    object.end = end;
    if (!search->test(&object, search->argument)) {
        return 0;
    }
    *search->found = object;
    return 1;
}

bool elf_object_find(elf_object_test *test, const void *argument, struct elf_object *found)
{
    struct search search = {test, argument, found};
    return dl_iterate_phdr(search_visit, &search) != 0;
}

static bool holds(const struct elf_object *object, const void *address)
{
    return (uintptr_t)address >= object->start && (uintptr_t)address < object->end;
}

bool elf_object_holding(const void *address, struct elf_object *found)
{
    return elf_object_find(holds, address, found);
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *data)
{
    bool counts = size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs;
    *(uint64_t *)data = counts ? info->dlpi_adds + info->dlpi_subs : 0;
    return 1;
}

uint64_t elf_object_generation(void)
{
    uint64_t generation = 0;
    dl_iterate_phdr(read_generation, &generation);
    return generation;
}
