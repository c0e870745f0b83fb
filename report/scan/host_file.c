/* Executables, libraries, objects and archives by libelf; device files by their first bytes; anything else is
 * searched as a whole (caches of numba and inductor, serialized models). */
#include "host_file.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "report/cubin/bytes.h"
#include "report/cubin/cubin.h"

#define EM_CUDA 190

#define PTX_PROBE_BYTES (64u << 10)

struct regions {
    host_region_visitor *visit;
    void *context;
};

static void add_region(const struct regions *regions, enum host_region_kind kind, uint64_t offset,
                       uint64_t bytes)
{
    struct host_region region = {.kind = kind, .offset = offset, .bytes = bytes};
    regions->visit(&region, regions->context);
}

/* Code holds the container magic as an immediate; sections without memory hold no device code. */
static bool may_hold_containers(const GElf_Shdr *section)
{
    return section->sh_type != SHT_NOBITS && (section->sh_flags & SHF_ALLOC) &&
           !(section->sh_flags & SHF_EXECINSTR) && section->sh_size >= FATBIN_CONTAINER_HEADER_BYTES;
}

static int by_offset(const void *left, const void *right)
{
    const struct host_region *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sections that overlap are read once, however many of them a hostile file has. */
static void visit_in_order(const struct regions *regions, struct host_region *found, size_t count)
{
    uint64_t seen = 0;
    qsort(found, count, sizeof *found, by_offset);
    for (size_t i = 0; i < count; i++) {
        struct host_region region = found[i];
        uint64_t end = region.offset + region.bytes, again = seen > region.offset ? seen - region.offset : 0;
        if (end > seen) {
            region.offset += again;
            region.address += again;
            region.bytes -= again;
            regions->visit(&region, regions->context);
            seen = end;
        }
    }
}

static const char *elf_sections(const struct regions *regions, Elf *elf, uint64_t base, uint64_t size)
{
    size_t count = 0, used = 0;
    if (elf_getshdrnum(elf, &count) != 0 || count == 0) {
        return "its section table is missing or cut off"; /* libelf calls both a success */
    }
    struct host_region *found = calloc(count, sizeof *found);
    if (!found) {
        return "out of memory";
    }
    const char *why = NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !may_hold_containers(&header)) {
            continue;
        }
        if (header.sh_offset > size || header.sh_size > size - header.sh_offset) {
            why = "it is cut off: a section reaches past the end";
        } else if (used < count) {
            found[used++] =
                (struct host_region){REGION_DATA, base + header.sh_offset, header.sh_size, header.sh_addr};
        }
    }
    if (!why) {
        visit_in_order(regions, found, used);
    }
    free(found);
    return why;
}

static const char *elf_object(const struct regions *regions, Elf *elf, uint64_t base, uint64_t size)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header)) {
        return elf_errmsg(-1);
    }
    if (header.e_machine == EM_CUDA) {
        add_region(regions, REGION_CUBIN, base, size);
        return NULL;
    }
    return elf_sections(regions, elf, base, size);
}

static bool is_index_member(const Elf_Arhdr *member)
{
    return strcmp(member->ar_name, "/") == 0 || strcmp(member->ar_name, "//") == 0 ||
           strcmp(member->ar_name, "/SYM64/") == 0;
}

/* Members that are no ELF files (text, LLVM bitcode) hold no device code. */
static const char *archive_members(const struct regions *regions, Elf *archive, struct file_reader *reader)
{
    const char *why = NULL;
    Elf_Cmd command = ELF_C_READ;
    for (Elf *elf; command != ELF_C_NULL && (elf = elf_begin(reader->fd, command, archive)) != NULL;) {
        const Elf_Arhdr *member = elf_getarhdr(elf);
        int64_t base = elf_getbase(elf);
        if (!member || base < 0 || (uint64_t)base > reader->size || member->ar_size < 0 ||
            (uint64_t)member->ar_size > reader->size - (uint64_t)base) {
            why = "a member of the archive is cut off";
        } else if (!is_index_member(member) && elf_kind(elf) == ELF_K_ELF) {
            const char *fault = elf_object(regions, elf, (uint64_t)base, (uint64_t)member->ar_size);
            why = fault ? fault : why;
        }
        command = why ? ELF_C_NULL : elf_next(elf);
        elf_end(elf);
    }
    return why;
}

static const char *host_binary(const struct regions *regions, struct file_reader *reader)
{
    if (elf_version(EV_CURRENT) == EV_NONE) {
        return "libelf does not match its header";
    }
    Elf *elf = elf_begin(reader->fd, ELF_C_READ, NULL);
    if (!elf) {
        return elf_errmsg(-1);
    }
    const char *why = "neither an ELF file nor an archive";
    if (elf_kind(elf) == ELF_K_AR) {
        why = archive_members(regions, elf, reader);
    } else if (elf_kind(elf) == ELF_K_ELF) {
        why = elf_object(regions, elf, 0, reader->size);
    }
    elf_end(elf);
    return why;
}

static bool starts_with(struct file_reader *reader, const char *magic)
{
    size_t length = strlen(magic);
    const unsigned char *head = file_reader_at(reader, 0, length);
    return head && memcmp(head, magic, length) == 0;
}

bool host_file_is_packed(struct file_reader *reader)
{
    static const char *const magics[] = {"PK\3\4", "\x1f\x8b", "\3757zXZ", "\x28\xb5\x2f\xfd", "BZh"};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (starts_with(reader, magics[i])) {
            return true;
        }
    }
    return false;
}

static bool is_ptx(struct file_reader *reader)
{
    size_t bytes = reader->size < PTX_PROBE_BYTES ? (size_t)reader->size : PTX_PROBE_BYTES;
    const unsigned char *head = file_reader_at(reader, 0, bytes);
    return head && ptx_is_text((const char *)head, bytes);
}

const char *host_file_regions(struct file_reader *reader, host_region_visitor *visit, void *context)
{
    struct regions regions = {visit, context};
    const unsigned char *magic = file_reader_at(reader, 0, 4);
    if (starts_with(reader, "!<thin>\n")) {
        return "a thin archive: scan its members instead";
    }
    if (starts_with(reader, ELFMAG) || starts_with(reader, "!<arch>\n")) {
        return host_binary(&regions, reader);
    }
    enum host_region_kind kind = REGION_LOOSE;
    if (magic && load_u32(magic) == FATBIN_MAGIC) {
        kind = REGION_FATBIN;
    } else if (is_ptx(reader)) {
        kind = REGION_PTX;
    }
    add_region(&regions, kind, 0, reader->size);
    return NULL;
}
