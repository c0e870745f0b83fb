/* The search for container magics, and the walk along the entry headers of each container found. Nothing but
 * headers is read here, so a filter by architecture costs neither reading nor unpacking. */
#include "containers.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "report/cubin/bytes.h"
#include "report/cubin/elf_view.h"

#define SEARCH_LEAST_BYTES (1u << 10)
#define SEARCH_MOST_BYTES  (256u << 10)

struct search {
    struct file_reader *reader;
    const struct container_sink *sink;
    const struct host_region *region;
    uint64_t offset, end;
    uint64_t sections_left; /* cubins do not overlap, so their section headers fit the region together */
    struct fatbin_entry *entries;
    uint64_t *offsets;
    size_t count, capacity;
};

static bool reserve_entry(struct search *search)
{
    if (search->count < search->capacity) {
        return true;
    }
    size_t capacity = search->capacity ? 2 * search->capacity : 16;
    struct fatbin_entry *entries = realloc(search->entries, capacity * sizeof *entries);
    if (entries) {
        search->entries = entries;
    }
    uint64_t *offsets = realloc(search->offsets, capacity * sizeof *offsets);
    if (offsets) {
        search->offsets = offsets;
    }
    if (!entries || !offsets) {
        return false;
    }
    search->capacity = capacity;
    return true;
}

/* The header's own length decides how much of it must be at hand. */
static enum cubin_status read_entry(struct search *search, uint64_t offset, uint64_t end,
                                    struct fatbin_entry *entry)
{
    const unsigned char *header = file_reader_at(search->reader, offset, FATBIN_ENTRY_HEADER_LEAST_BYTES);
    if (!header || end - offset < FATBIN_ENTRY_HEADER_LEAST_BYTES) {
        return CUBIN_TRUNCATED;
    }
    uint32_t header_bytes = load_u32(header + 4);
    if (header_bytes < FATBIN_ENTRY_HEADER_LEAST_BYTES || header_bytes > FATBIN_ENTRY_HEADER_MOST_BYTES) {
        return CUBIN_MALFORMED;
    }
    header = file_reader_at(search->reader, offset, header_bytes);
    return header ? fatbin_entry_parse(header, header_bytes, end - offset, entry) : CUBIN_TRUNCATED;
}

/* Where the search goes on: after the container, or after the fault in it. */
static bool walk_container(struct search *search, uint64_t offset, uint64_t end, uint32_t index,
                           uint64_t *next)
{
    enum cubin_status status = CUBIN_OK;
    search->count = 0;
    for (*next = offset + FATBIN_CONTAINER_HEADER_BYTES; *next < end;) {
        if (!reserve_entry(search)) {
            return false;
        }
        struct fatbin_entry *entry = &search->entries[search->count];
        status = read_entry(search, *next, end, entry);
        if (status != CUBIN_OK) {
            break;
        }
        entry->identifier = NULL; /* lies in the reader's window */
        entry->index = (unsigned)search->count;
        search->offsets[search->count++] = *next;
        *next += entry->header_bytes + entry->padded_bytes;
    }
    struct container container = {index, search->entries, search->offsets, search->count};
    search->sink->container(search->sink->context, &container);
    if (status != CUBIN_OK) {
        search->sink->fault(search->sink->context, *next, status);
        *next += 8;
    }
    return true;
}

/* A number that happens to equal the magic has no valid header behind it and is passed over, except where
 * the file claims to be a container. */
static bool try_container(struct search *search, uint64_t offset, uint32_t *next_index, uint64_t *next)
{
    uint64_t bytes, rest = search->end - offset;
    const unsigned char *header = file_reader_at(search->reader, offset, FATBIN_CONTAINER_HEADER_BYTES);
    enum cubin_status status =
        header ? fatbin_container_parse(header, FATBIN_CONTAINER_HEADER_BYTES, &bytes) : CUBIN_TRUNCATED;
    *next = offset + 1;
    if (status != CUBIN_OK) {
        if (search->region->kind == REGION_FATBIN && offset == 0) {
            search->sink->fault(search->sink->context, offset, status);
        }
        return true;
    }
    bool cut = bytes > rest;
    if (!walk_container(search, offset, cut ? search->end : offset + bytes, (*next_index)++, next)) {
        return false;
    }
    if (cut) {
        search->sink->fault(search->sink->context, offset, CUBIN_TRUNCATED);
    }
    return true;
}

/* The end of a cubin that lies somewhere in a larger file: over both tables and all sections. 0: none. */
static uint64_t cubin_bytes(struct search *search, uint64_t offset)
{
    Elf64_Ehdr header;
    const unsigned char *at = file_reader_at(search->reader, offset, sizeof header);
    if (!at) {
        return 0;
    }
    memcpy(&header, at, sizeof header);
    uint64_t rest = search->end - offset;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_CUDA_CUBIN ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > rest ||
        header.e_shnum > search->sections_left) {
        return 0;
    }
    search->sections_left -= header.e_shnum;
    uint64_t bytes = header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    for (unsigned i = 0; i < header.e_shnum && bytes <= rest; i++) {
        Elf64_Shdr section;
        at = file_reader_at(search->reader, offset + header.e_shoff + i * sizeof section, sizeof section);
        if (!at) {
            return 0;
        }
        memcpy(&section, at, sizeof section);
        uint64_t end = section.sh_offset + section.sh_size;
        if (elf_section_occupies_file(section.sh_type) && section.sh_size <= rest && end > bytes) {
            bytes = end;
        }
    }
    return bytes <= rest ? bytes : 0;
}

static bool try_hit(struct search *search, uint64_t offset, bool elf, uint32_t *next_index, uint64_t *next)
{
    if (!elf) {
        return try_container(search, offset, next_index, next);
    }
    uint64_t bytes = cubin_bytes(search, offset);
    *next = offset + (bytes ? bytes : 1);
    if (bytes) {
        search->sink->cubin(search->sink->context, offset, bytes);
    }
    return true;
}

static bool is_container_magic(const unsigned char *at)
{
    return load_u32(at) == FATBIN_MAGIC;
}

static bool is_elf_magic(const unsigned char *at)
{
    enum { ELF_MAGIC = 0x464c457f };
    return load_u32(at) == ELF_MAGIC;
}

/* Moves search->offset to the first hit among `bytes` bytes, or behind the last place a hit could start. */
static bool find_in_chunk(struct search *search, const unsigned char *chunk, size_t bytes, unsigned step,
                          bool *elf)
{
    bool loose = search->region->kind == REGION_LOOSE;
    size_t i = 0;
    for (; i + 8 <= bytes; i += step) {
        *elf = loose && is_elf_magic(chunk + i);
        if (*elf || is_container_magic(chunk + i)) {
            search->offset += i;
            return true;
        }
    }
    search->offset += i;
    return false;
}

/* The next hit at or after search->offset; false at the end. Data sections are searched at multiples of 8,
 * which is how they are aligned; other files at each byte, for cubins too. Containers mostly follow each
 * other, so the first chunk is small. */
static bool find_magic(struct search *search, bool *elf)
{
    unsigned step = search->region->kind == REGION_LOOSE ? 1 : 8;
    uint64_t misaligned = (search->region->address + search->offset - search->region->offset) % step;
    search->offset += misaligned ? step - misaligned : 0;
    size_t most = SEARCH_LEAST_BYTES;
    while (search->offset < search->end && search->end - search->offset >= 8) {
        uint64_t rest = search->end - search->offset;
        size_t bytes = rest < most ? (size_t)rest : most;
        const unsigned char *chunk = file_reader_at(search->reader, search->offset, bytes);
        if (!chunk) {
            return false;
        }
        if (find_in_chunk(search, chunk, bytes, step, elf)) {
            return true;
        }
        most = most < SEARCH_MOST_BYTES ? 2 * most : most;
    }
    return false;
}

bool containers_find(struct file_reader *reader, const struct host_region *region, uint32_t *next_index,
                     const struct container_sink *sink)
{
    struct search search = {.reader = reader,
                            .sink = sink,
                            .region = region,
                            .offset = region->offset,
                            .end = region->offset + region->bytes,
                            .sections_left = region->bytes / sizeof(Elf64_Shdr)};
    bool elf, going = true;
    if (region->kind == REGION_CUBIN) {
        sink->cubin(sink->context, region->offset, region->bytes);
        return true;
    }
    while (going && find_magic(&search, &elf)) {
        uint64_t next;
        going = try_hit(&search, search.offset, elf, next_index, &next);
        search.offset = going ? next : search.offset;
    }
    free(search.entries);
    free(search.offsets);
    return going;
}
