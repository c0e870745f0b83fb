/* Fat binary containers: a header, then entries back to back. Layout and its evidence: docs/fatbin.md. */
#include "cubin.h"

#include "bytes.h"

enum entry_field {
    ENTRY_KIND = 0,
    ENTRY_HEADER_BYTES = 4,
    ENTRY_PADDED_BYTES = 8,
    ENTRY_COMPRESSED_BYTES = 16,
    ENTRY_MINOR = 24,
    ENTRY_MAJOR = 26,
    ENTRY_SM = 28,
    ENTRY_IDENTIFIER_OFFSET = 32,
    ENTRY_IDENTIFIER_BYTES = 36,
    ENTRY_FLAGS = 40,
    ENTRY_OBFUSCATION = 48,
    ENTRY_UNCOMPRESSED_BYTES = 56
};

enum entry_flag {
    FLAG_LZ4_BLOCK = 0x2000,
    FLAG_LZ4_FRAME = 0x4000,
    FLAG_ZSTD = 0x8000,
    FLAG_CODECS = FLAG_LZ4_BLOCK | FLAG_LZ4_FRAME | FLAG_ZSTD,
    FLAG_OBFUSCATED = 0x10000,
    FLAG_VARIANT_A = 0x100000,
    FLAG_VARIANT_F = 0x200000
};

enum cubin_status fatbin_container_parse(const void *header, size_t size, uint64_t *container_bytes)
{
    const unsigned char *at = header;
    if (size < FATBIN_CONTAINER_HEADER_BYTES) {
        return CUBIN_TRUNCATED;
    }
    if (load_u32(at) != FATBIN_MAGIC || load_u16(at + 6) != FATBIN_CONTAINER_HEADER_BYTES) {
        return CUBIN_MALFORMED;
    }
    if (load_u16(at + 4) != 1) {
        return CUBIN_UNSUPPORTED;
    }
    uint64_t content_bytes = load_u64(at + 8);
    if (content_bytes > INT64_MAX - FATBIN_CONTAINER_HEADER_BYTES) {
        return CUBIN_MALFORMED;
    }
    *container_bytes = FATBIN_CONTAINER_HEADER_BYTES + content_bytes;
    return CUBIN_OK;
}

static char entry_variant(uint64_t flags)
{
    return flags & FLAG_VARIANT_A ? 'a' : flags & FLAG_VARIANT_F ? 'f' : 0;
}

static enum cubin_status parse_codec(const unsigned char *at, struct fatbin_entry *entry)
{
    switch (entry->flags & FLAG_CODECS) {
    case 0:
        entry->codec = FATBIN_RAW;
        entry->payload_bytes = entry->uncompressed_bytes = entry->padded_bytes;
        return CUBIN_OK;
    case FLAG_LZ4_BLOCK:
        entry->codec = FATBIN_LZ4_BLOCK;
        break;
    case FLAG_LZ4_FRAME:
        entry->codec = FATBIN_LZ4_FRAME;
        break;
    case FLAG_ZSTD:
        entry->codec = FATBIN_ZSTD;
        break;
    default:
        return CUBIN_MALFORMED;
    }
    entry->payload_bytes = load_u32(at + ENTRY_COMPRESSED_BYTES);
    uint64_t uncompressed_bytes = load_u64(at + ENTRY_UNCOMPRESSED_BYTES);
    if (entry->payload_bytes > entry->padded_bytes || uncompressed_bytes > FATBIN_ENTRY_LIMIT_BYTES) {
        return CUBIN_MALFORMED;
    }
    entry->uncompressed_bytes = uncompressed_bytes;
    return CUBIN_OK;
}

static enum cubin_status parse_identifier(const unsigned char *at, struct fatbin_entry *entry)
{
    uint32_t offset = load_u32(at + ENTRY_IDENTIFIER_OFFSET);
    uint32_t bytes = load_u32(at + ENTRY_IDENTIFIER_BYTES);
    if (bytes == 0) {
        return CUBIN_OK;
    }
    if (offset > entry->header_bytes || bytes > entry->header_bytes - offset) {
        return CUBIN_MALFORMED;
    }
    entry->identifier = (const char *)at + offset;
    entry->identifier_bytes = bytes;
    return CUBIN_OK;
}

static enum cubin_status parse_extents(const unsigned char *at, size_t size, uint64_t room,
                                       struct fatbin_entry *entry)
{
    uint32_t header_bytes = load_u32(at + ENTRY_HEADER_BYTES);
    uint64_t padded_bytes = load_u64(at + ENTRY_PADDED_BYTES);
    if (header_bytes < FATBIN_ENTRY_HEADER_LEAST_BYTES || header_bytes > FATBIN_ENTRY_HEADER_MOST_BYTES) {
        return CUBIN_MALFORMED;
    }
    if (header_bytes > room || padded_bytes > room - header_bytes || header_bytes > size) {
        return CUBIN_TRUNCATED;
    }
    entry->header_bytes = header_bytes;
    entry->padded_bytes = padded_bytes;
    return CUBIN_OK;
}

enum cubin_status fatbin_entry_parse(const void *header, size_t size, uint64_t room,
                                     struct fatbin_entry *entry)
{
    const unsigned char *at = header;
    *entry = (struct fatbin_entry){0};
    if (size < FATBIN_ENTRY_HEADER_LEAST_BYTES) {
        return CUBIN_TRUNCATED;
    }
    enum cubin_status status = parse_extents(at, size, room, entry);
    if (status != CUBIN_OK) {
        return status;
    }
    entry->kind = load_u16(at + ENTRY_KIND);
    entry->major = load_u16(at + ENTRY_MAJOR);
    entry->minor = load_u16(at + ENTRY_MINOR);
    entry->sm = load_u32(at + ENTRY_SM);
    entry->flags = load_u64(at + ENTRY_FLAGS);
    entry->variant = entry_variant(entry->flags);
    entry->obfuscated = (entry->flags & FLAG_OBFUSCATED) || load_u64(at + ENTRY_OBFUSCATION) != 0;
    status = parse_identifier(at, entry);
    return status != CUBIN_OK ? status : parse_codec(at, entry);
}

static enum cubin_status walk_entries(const unsigned char *container, size_t size, fatbin_visitor visit,
                                      void *context)
{
    size_t offset = FATBIN_CONTAINER_HEADER_BYTES;
    for (unsigned index = 0; offset < size; index++) {
        struct fatbin_entry entry;
        enum cubin_status status =
            fatbin_entry_parse(container + offset, size - offset, size - offset, &entry);
        if (status != CUBIN_OK) {
            return status;
        }
        entry.payload = container + offset + entry.header_bytes;
        entry.offset = offset;
        entry.index = index;
        if (!visit(&entry, context)) {
            return CUBIN_STOPPED;
        }
        offset += entry.header_bytes + entry.padded_bytes;
    }
    return CUBIN_OK;
}

enum cubin_status fatbin_walk(const void *container, size_t size, fatbin_visitor visit, void *context,
                              size_t *container_bytes)
{
    uint64_t bytes;
    enum cubin_status status = fatbin_container_parse(container, size, &bytes);
    if (status != CUBIN_OK) {
        return status;
    }
    if (container_bytes) {
        *container_bytes = bytes;
    }
    if (bytes <= size) {
        return walk_entries(container, bytes, visit, context);
    }
    status = walk_entries(container, size, visit, context);
    return status == CUBIN_OK ? CUBIN_TRUNCATED : status;
}
