/* `.nv.info` records: u8 format, u8 attribute, then a value in place (formats 1 to 3) or a payload (4).
 * Codes and their evidence: docs/fatbin.md. */
#include "attributes.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

enum attribute {
    ATTRIBUTE_MAX_THREADS = 0x05,
    ATTRIBUTE_PARAMETER_BANK = 0x0a,
    ATTRIBUTE_REQUIRED_BLOCK = 0x10,
    ATTRIBUTE_FRAME_SIZE = 0x11,
    ATTRIBUTE_MIN_STACK_SIZE = 0x12,
    ATTRIBUTE_PARAMETER = 0x17,
    ATTRIBUTE_PARAMETER_BYTES = 0x19,
    ATTRIBUTE_MAX_REGISTERS = 0x1b,
    ATTRIBUTE_REGISTERS = 0x2f,
    ATTRIBUTE_MBARRIERS = 0x38,
    ATTRIBUTE_CLUSTER = 0x3d,
    ATTRIBUTE_MAX_CLUSTER_RANK = 0x3f,
    ATTRIBUTE_PARAMETER_V2 = 0x45,
    ATTRIBUTE_BARRIERS = 0x4c,
    ATTRIBUTE_BLOCKS_ARE_CLUSTERS = 0x5b
};

enum { FORMAT_NONE = 1, FORMAT_BYTE = 2, FORMAT_SHORT = 3, FORMAT_PAYLOAD = 4 };

struct record {
    uint8_t format, attribute;
    uint16_t value;
    struct elf_bytes payload;
};

/* CUBIN_STOPPED at the end. */
static enum cubin_status next_record(struct elf_bytes *rest, struct record *record)
{
    if (rest->size == 0) {
        return CUBIN_STOPPED;
    }
    if (rest->size < 4) {
        return CUBIN_TRUNCATED;
    }
    *record =
        (struct record){.format = rest->at[0], .attribute = rest->at[1], .value = load_u16(rest->at + 2)};
    if (record->format < FORMAT_NONE || record->format > FORMAT_PAYLOAD) {
        return CUBIN_MALFORMED;
    }
    size_t length = 4;
    if (record->format == FORMAT_BYTE) {
        record->value &= 0xff;
    } else if (record->format == FORMAT_PAYLOAD) {
        record->payload = (struct elf_bytes){rest->at + 4, record->value};
        length += record->value;
    }
    if (length > rest->size) {
        return CUBIN_TRUNCATED;
    }
    rest->at += length;
    rest->size -= length;
    return CUBIN_OK;
}

static enum cubin_status apply_to_symbol(const struct record *record, struct symbol_attributes *symbols,
                                         uint32_t symbols_count)
{
    bool known = record->attribute == ATTRIBUTE_REGISTERS || record->attribute == ATTRIBUTE_FRAME_SIZE ||
                 record->attribute == ATTRIBUTE_MIN_STACK_SIZE;
    if (!known) {
        return CUBIN_OK;
    }
    if (record->payload.size < 8) {
        return CUBIN_MALFORMED;
    }
    uint32_t index = load_u32(record->payload.at), value = load_u32(record->payload.at + 4);
    if (index >= symbols_count) {
        return CUBIN_MALFORMED;
    }
    struct symbol_attributes *symbol = &symbols[index];
    if (record->attribute == ATTRIBUTE_REGISTERS) {
        symbol->registers = value;
        symbol->valid |= CUBIN_HAS_REGISTERS;
    } else if (value != UINT32_MAX && record->attribute == ATTRIBUTE_FRAME_SIZE) {
        symbol->frame_bytes = value;
        symbol->valid |= CUBIN_HAS_STACK;
    } else if (value != UINT32_MAX) {
        symbol->min_stack_bytes = value;
        symbol->valid |= CUBIN_HAS_MIN_STACK;
    }
    return CUBIN_OK;
}

enum cubin_status attributes_read_symbols(struct elf_bytes section, struct symbol_attributes *symbols,
                                          uint32_t symbols_count)
{
    struct record record;
    enum cubin_status status;
    while ((status = next_record(&section, &record)) == CUBIN_OK) {
        status = apply_to_symbol(&record, symbols, symbols_count);
        if (status != CUBIN_OK) {
            return status;
        }
    }
    return status == CUBIN_STOPPED ? CUBIN_OK : status;
}

static enum cubin_status grow_parameters(struct parameter_list *list, uint32_t count)
{
    if (count > list->capacity) {
        uint32_t capacity = count < 32 ? 32 : count * 2;
        struct cubin_parameter *grown = realloc(list->at, capacity * sizeof *grown);
        if (!grown) {
            return CUBIN_NO_MEMORY;
        }
        list->at = grown;
        list->capacity = capacity;
    }
    if (count > list->count) {
        memset(list->at + list->count, 0, (count - list->count) * sizeof *list->at);
        list->count = count;
    }
    return CUBIN_OK;
}

/* The first form packs the size into the upper 14 bits of its last word. */
static enum cubin_status add_parameter(const struct record *record, struct parameter_list *list)
{
    if (record->payload.size < 12) {
        return CUBIN_MALFORMED;
    }
    const unsigned char *at = record->payload.at;
    uint32_t ordinal = load_u16(at + 4), bytes = load_u32(at + 8);
    if (ordinal >= CUBIN_MAX_PARAMETERS) {
        return CUBIN_MALFORMED;
    }
    enum cubin_status status = grow_parameters(list, ordinal + 1);
    if (status == CUBIN_OK) {
        list->at[ordinal] = (struct cubin_parameter){
            .offset = load_u16(at + 6),
            .bytes = record->attribute == ATTRIBUTE_PARAMETER ? bytes >> 18 : bytes,
        };
    }
    return status;
}

static enum cubin_status read_triple(const struct record *record, uint32_t triple[3],
                                     struct cubin_kernel *kernel, uint32_t valid)
{
    if (record->payload.size < 12) {
        return CUBIN_MALFORMED;
    }
    for (int i = 0; i < 3; i++) {
        triple[i] = load_u32(record->payload.at + 4 * i);
    }
    kernel->valid |= valid;
    return CUBIN_OK;
}

static enum cubin_status read_parameter_bank(const struct record *record, struct cubin_kernel *kernel)
{
    if (record->payload.size < 8) {
        return CUBIN_MALFORMED;
    }
    kernel->parameter_base = load_u16(record->payload.at + 4);
    return CUBIN_OK;
}

static enum cubin_status read_max_cluster_rank(const struct record *record, struct cubin_kernel *kernel)
{
    if (record->payload.size < 4) {
        return CUBIN_MALFORMED;
    }
    kernel->max_cluster_rank = load_u32(record->payload.at);
    kernel->valid |= CUBIN_HAS_MAX_CLUSTER_RANK;
    return CUBIN_OK;
}

static enum cubin_status apply_to_kernel(const struct record *record, struct cubin_kernel *kernel,
                                         struct parameter_list *parameters)
{
    switch (record->attribute) {
    case ATTRIBUTE_MAX_THREADS:
        return read_triple(record, kernel->max_threads, kernel, CUBIN_HAS_MAX_THREADS);
    case ATTRIBUTE_REQUIRED_BLOCK:
        return read_triple(record, kernel->required_block, kernel, CUBIN_HAS_REQUIRED_BLOCK);
    case ATTRIBUTE_CLUSTER:
        return read_triple(record, kernel->cluster, kernel, CUBIN_HAS_CLUSTER);
    case ATTRIBUTE_MAX_CLUSTER_RANK:
        return read_max_cluster_rank(record, kernel);
    case ATTRIBUTE_PARAMETER_BANK:
        return read_parameter_bank(record, kernel);
    case ATTRIBUTE_PARAMETER:
    case ATTRIBUTE_PARAMETER_V2:
        return add_parameter(record, parameters);
    case ATTRIBUTE_PARAMETER_BYTES:
        kernel->parameter_bytes = record->value;
        return CUBIN_OK;
    case ATTRIBUTE_MAX_REGISTERS:
        kernel->max_registers = record->value;
        return CUBIN_OK;
    case ATTRIBUTE_BARRIERS:
        kernel->barriers = record->value;
        return CUBIN_OK;
    case ATTRIBUTE_MBARRIERS:
        kernel->mbarriers = record->value;
        return CUBIN_OK;
    case ATTRIBUTE_BLOCKS_ARE_CLUSTERS:
        kernel->blocks_are_clusters = true;
        return CUBIN_OK;
    default:
        return CUBIN_OK;
    }
}

enum cubin_status attributes_read_kernel(struct elf_bytes section, struct cubin_kernel *kernel,
                                         struct parameter_list *parameters)
{
    struct record record;
    enum cubin_status status;
    while ((status = next_record(&section, &record)) == CUBIN_OK) {
        status = apply_to_kernel(&record, kernel, parameters);
        if (status != CUBIN_OK) {
            return status;
        }
    }
    return status == CUBIN_STOPPED ? CUBIN_OK : status;
}
