/* Images that a program hands to the driver as a bare pointer: what they are and how long. */
#include "cubin.h"

#include <string.h>

#include "bytes.h"
#include "elf_view.h"

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Neither table is always last, and sections without content may seem to reach past the end. */
static size_t measure_elf(const unsigned char *image)
{
    struct elf_view view = {.image = image, .size = SIZE_MAX};
    memcpy(&view.header, image, sizeof view.header);
    const Elf64_Ehdr *header = &view.header;
    size_t size = sizeof *header;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return 0;
    }
    size = larger(size, header->e_phoff + (size_t)header->e_phnum * header->e_phentsize);
    if (header->e_shoff == 0) {
        return size;
    }
    uint64_t count = header->e_shnum ? header->e_shnum : elf_section(&view, 0).sh_size;
    size = larger(size, header->e_shoff + count * sizeof(Elf64_Shdr));
    for (uint32_t index = 1; index < count; index++) {
        Elf64_Shdr section = elf_section(&view, index);
        if (elf_section_occupies_file(section.sh_type)) {
            size = larger(size, section.sh_offset + section.sh_size);
        }
    }
    return size;
}

static size_t measure_container(const unsigned char *container)
{
    uint64_t bytes = 0;
    return fatbin_container_parse(container, FATBIN_CONTAINER_HEADER_BYTES, &bytes) == CUBIN_OK ? bytes : 0;
}

static enum image_kind measure_wrapper(const unsigned char *image, const void **container, size_t *size)
{
    const unsigned char *target = (const unsigned char *)(uintptr_t)load_u64(image + 8);
    *size = target && load_u32(target) == FATBIN_MAGIC ? measure_container(target) : 0;
    if (*size == 0) {
        return IMAGE_UNKNOWN;
    }
    if (container) {
        *container = target;
    }
    return IMAGE_WRAPPER;
}

/* PTX starts with white space, a comment or a directive. */
static bool starts_like_text(unsigned char first)
{
    return first == '\t' || first == '\n' || first == '\r' || (first >= 0x20 && first < 0x7f);
}

enum image_kind image_measure(const void *image, const void **container, size_t *size)
{
    const unsigned char *at = image;
    *size = 0;
    if (memchr(at, 0, 4)) {
        return IMAGE_UNKNOWN; /* shorter than any of them */
    }
    if (memcmp(at, ELFMAG, SELFMAG) == 0) {
        *size = measure_elf(at);
        return *size ? IMAGE_CUBIN : IMAGE_UNKNOWN;
    }
    if (load_u32(at) == FATBIN_WRAPPER_MAGIC) {
        return measure_wrapper(at, container, size);
    }
    if (load_u32(at) == FATBIN_MAGIC) {
        *size = measure_container(at);
        return *size ? IMAGE_FATBIN : IMAGE_UNKNOWN;
    }
    if (starts_like_text(at[0])) {
        *size = strlen(image);
        return IMAGE_PTX;
    }
    return IMAGE_UNKNOWN;
}
