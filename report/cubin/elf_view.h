/* A 64-bit little-endian ELF image in memory, every access checked. Not libelf: it must work inside the
 * simulated driver, on images of any alignment, and be equally strict on every field. */
#ifndef WARPWATCH_ELF_VIEW_H
#define WARPWATCH_ELF_VIEW_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cubin.h"

#define EM_CUDA_CUBIN 190

struct elf_bytes {
    const unsigned char *at;
    size_t size;
};

struct elf_view {
    const unsigned char *image;
    size_t size;
    Elf64_Ehdr header;
    uint32_t sections;
    struct elf_bytes section_names;
};

enum cubin_status elf_view_open(struct elf_view *view, const void *image, size_t size);

/* index < view->sections */
Elf64_Shdr elf_section(const struct elf_view *view, uint32_t index);
/* "" where the name is out of bounds. */
const char *elf_section_name(const struct elf_view *view, const Elf64_Shdr *section);
/* 0 without one: section 0 is never a real one. */
uint32_t elf_section_find(const struct elf_view *view, const char *name);
/* Whether the section has content in the file; NVIDIA's own types have several that do not. */
bool elf_section_occupies_file(uint32_t type);
enum cubin_status elf_section_bytes(const struct elf_view *view, uint32_t index, struct elf_bytes *bytes);

/* "" for an offset out of bounds. */
const char *elf_string(const struct elf_bytes *strings, uint64_t offset);

struct elf_symbols {
    struct elf_bytes table, strings;
    uint32_t count;
};
/* The one SHT_SYMTAB; an image without symbols gives count 0. */
enum cubin_status elf_symbols_open(const struct elf_view *view, struct elf_symbols *symbols);
Elf64_Sym elf_symbol(const struct elf_symbols *symbols, uint32_t index);

#endif
