/* Checked access to a 64-bit little-endian ELF image. */
#include "elf_view.h"

#include <string.h>

/* NVIDIA's section types without content in the file: .nv.global, .nv.local, .nv.shared.* of relocatable
 * objects, and .nv.merc.nv.shared.reserved.0 of sm_100 and later. */
enum {
    SHT_CUDA_GLOBAL = 0x70000007,
    SHT_CUDA_LOCAL = 0x70000009,
    SHT_CUDA_SHARED = 0x7000000a,
    SHT_CUDA_RESERVED = 0x70000015
};

bool elf_section_occupies_file(uint32_t type)
{
    return type != SHT_NULL && type != SHT_NOBITS && type != SHT_CUDA_GLOBAL && type != SHT_CUDA_LOCAL &&
           type != SHT_CUDA_SHARED && type != SHT_CUDA_RESERVED;
}

static enum cubin_status check_identity(const Elf64_Ehdr *header)
{
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
        return CUBIN_MALFORMED;
    }
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return CUBIN_UNSUPPORTED;
    }
    return header->e_shoff == 0 || header->e_shentsize == sizeof(Elf64_Shdr) ? CUBIN_OK : CUBIN_MALFORMED;
}

/* Counts that do not fit 16 bits stand in section 0. */
static enum cubin_status count_sections(struct elf_view *view, uint32_t *names_index)
{
    const Elf64_Ehdr *header = &view->header;
    if (header->e_shoff == 0) {
        return CUBIN_MALFORMED;
    }
    if (header->e_shoff > view->size || view->size - header->e_shoff < sizeof(Elf64_Shdr)) {
        return CUBIN_TRUNCATED;
    }
    Elf64_Shdr first = elf_section(view, 0);
    uint64_t count = header->e_shnum ? header->e_shnum : first.sh_size;
    if (count > (view->size - header->e_shoff) / sizeof(Elf64_Shdr)) {
        return CUBIN_TRUNCATED;
    }
    view->sections = (uint32_t)count;
    *names_index = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    return count > 0 && *names_index < count ? CUBIN_OK : CUBIN_MALFORMED;
}

/* Up to its last NUL, so that each offset below its size starts a terminated string. */
static enum cubin_status string_table(const struct elf_view *view, uint32_t index, struct elf_bytes *strings)
{
    enum cubin_status status = elf_section_bytes(view, index, strings);
    while (status == CUBIN_OK && strings->size > 0 && strings->at[strings->size - 1] != 0) {
        strings->size--;
    }
    return status;
}

enum cubin_status elf_view_open(struct elf_view *view, const void *image, size_t size)
{
    *view = (struct elf_view){.image = image, .size = size};
    if (size < sizeof view->header) {
        return CUBIN_TRUNCATED;
    }
    memcpy(&view->header, image, sizeof view->header);
    enum cubin_status status = check_identity(&view->header);
    if (status != CUBIN_OK) {
        return status;
    }
    uint32_t names_index;
    status = count_sections(view, &names_index);
    return status != CUBIN_OK ? status : string_table(view, names_index, &view->section_names);
}

Elf64_Shdr elf_section(const struct elf_view *view, uint32_t index)
{
    Elf64_Shdr section;
    memcpy(&section, view->image + view->header.e_shoff + (size_t)index * sizeof section, sizeof section);
    return section;
}

const char *elf_section_name(const struct elf_view *view, const Elf64_Shdr *section)
{
    return elf_string(&view->section_names, section->sh_name);
}

uint32_t elf_section_find(const struct elf_view *view, const char *name)
{
    for (uint32_t index = 1; index < view->sections; index++) {
        Elf64_Shdr section = elf_section(view, index);
        if (strcmp(elf_section_name(view, &section), name) == 0) {
            return index;
        }
    }
    return 0;
}

enum cubin_status elf_section_bytes(const struct elf_view *view, uint32_t index, struct elf_bytes *bytes)
{
    Elf64_Shdr section = elf_section(view, index);
    if (!elf_section_occupies_file(section.sh_type)) {
        *bytes = (struct elf_bytes){0};
        return CUBIN_OK;
    }
    if (section.sh_offset > view->size || section.sh_size > view->size - section.sh_offset) {
        return CUBIN_TRUNCATED;
    }
    *bytes = (struct elf_bytes){view->image + section.sh_offset, section.sh_size};
    return CUBIN_OK;
}

const char *elf_string(const struct elf_bytes *strings, uint64_t offset)
{
    return offset < strings->size ? (const char *)strings->at + offset : "";
}

enum cubin_status elf_symbols_open(const struct elf_view *view, struct elf_symbols *symbols)
{
    *symbols = (struct elf_symbols){0};
    for (uint32_t index = 1; index < view->sections; index++) {
        Elf64_Shdr section = elf_section(view, index);
        if (section.sh_type != SHT_SYMTAB) {
            continue;
        }
        enum cubin_status status = elf_section_bytes(view, index, &symbols->table);
        if (status != CUBIN_OK) {
            return status;
        }
        if (symbols->table.size % sizeof(Elf64_Sym) != 0 || section.sh_link >= view->sections) {
            return CUBIN_MALFORMED;
        }
        symbols->count = (uint32_t)(symbols->table.size / sizeof(Elf64_Sym));
        return string_table(view, section.sh_link, &symbols->strings);
    }
    return CUBIN_OK;
}

Elf64_Sym elf_symbol(const struct elf_symbols *symbols, uint32_t index)
{
    Elf64_Sym symbol;
    memcpy(&symbol, symbols->table.at + (size_t)index * sizeof symbol, sizeof symbol);
    return symbol;
}
