/* What a cubin says about itself as a whole: architecture, ABI, toolkit. */
#include "cubin_info.h"

#include <string.h>

#include "bytes.h"

#define COMPAT_VARIANT 0x09 /* .nv.compat: 1 = architecture-specific ('a') */

/* One note: three words (name bytes, description bytes, type), the name, the description, both padded to 4.
 */
static struct elf_bytes note_description(struct elf_bytes note)
{
    if (note.size < 12) {
        return (struct elf_bytes){0};
    }
    uint64_t name_bytes = ((uint64_t)load_u32(note.at) + 3) & ~(uint64_t)3;
    uint64_t description_bytes = load_u32(note.at + 4);
    if (name_bytes > note.size - 12 || description_bytes > note.size - 12 - name_bytes) {
        return (struct elf_bytes){0};
    }
    return (struct elf_bytes){note.at + 12 + name_bytes, description_bytes};
}

static struct elf_bytes section_named(const struct elf_view *view, const char *name)
{
    struct elf_bytes bytes;
    uint32_t index = elf_section_find(view, name);
    if (index == 0 || elf_section_bytes(view, index, &bytes) != CUBIN_OK) {
        return (struct elf_bytes){0};
    }
    return bytes;
}

/* The command line that the compiler notes down ("-arch sm_100f -m 64") is the only place that names 'f'. */
static char variant_in_command(struct elf_bytes description)
{
    static const char key[] = "-arch sm_";
    const unsigned char *found =
        description.size ? memmem(description.at, description.size, key, sizeof key - 1) : NULL;
    if (!found) {
        return 0;
    }
    const unsigned char *end = description.at + description.size;
    const unsigned char *at = found + sizeof key - 1;
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    return at < end && (*at == 'a' || *at == 'f') ? (char)*at : 0;
}

static char variant_of(const struct elf_view *view)
{
    struct elf_bytes compat = section_named(view, ".nv.compat");
    if (compat.size >= 4 && compat.at[1] == COMPAT_VARIANT && compat.at[2] == 1) {
        return 'a';
    }
    return variant_in_command(note_description(section_named(view, ".note.nv.tkinfo")));
}

/* The note's description is {u16 2, u16 sm, u16 toolkit}; older files keep the toolkit in e_version. */
static uint32_t toolkit_of(const struct elf_view *view)
{
    struct elf_bytes note = note_description(section_named(view, ".note.nv.cuinfo"));
    if (note.size >= 6) {
        return load_u16(note.at + 4);
    }
    return view->header.e_version > EV_CURRENT ? view->header.e_version : 0;
}

void cubin_describe(const struct elf_view *view, struct cubin_info *info)
{
    uint32_t flags = view->header.e_flags;
    *info = (struct cubin_info){
        .abi = view->header.e_ident[EI_ABIVERSION],
        .relocatable = view->header.e_type == ET_REL,
        .address64 = true,
    };
    info->sm = info->abi >= 8 ? flags >> 8 & 0xff : flags & 0xff;
    info->variant = variant_of(view);
    info->debug = elf_section_find(view, ".debug_info") != 0;
    info->toolkit = toolkit_of(view);
}
