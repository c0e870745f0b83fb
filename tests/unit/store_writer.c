/* Records are collected by kind and laid out when the file is made: strings first, so that their offsets are
 * known from the start. */
#include "store_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *memory)
{
    if (!memory) {
        perror("store_writer");
        abort();
    }
    return memory;
}

void store_writer_begin(struct store_writer *writer, uint32_t pid)
{
    memset(writer, 0, sizeof *writer);
    struct store_header *header = &writer->header;
    memcpy(header->magic, STORE_MAGIC, sizeof header->magic);
    header->version = STORE_VERSION;
    header->header_bytes = STORE_BLOCK_BYTES;
    header->pid = pid;
    header->rank = header->local_rank = -1;
    header->pid_start_ticks = 1000 + pid;
    header->start_realtime_ns = 1760000000000000000u + pid;
    header->start_monotonic_ns = 5000000000u;
    header->end_monotonic_ns = 6000000000u;
    header->driver_version = 13000;
    header->state = STORE_FINISHED;
    strcpy(header->host, "node1");
    strcpy(header->boot_id, "00000000-0000-0000-0000-000000000001");
}

void store_writer_free(struct store_writer *writer)
{
    for (size_t i = 0; i < STORE_KINDS; i++) {
        free(writer->kinds[i].records);
    }
}

static uint32_t append(struct store_writer *writer, enum store_kind kind, const void *records, uint32_t count)
{
    struct store_writer_kind *into = &writer->kinds[kind];
    if (into->count + count > into->capacity) {
        into->capacity = 2 * (into->count + count) + 16;
        into->records = or_die(realloc(into->records, (size_t)into->capacity * store_record_bytes(kind)));
    }
    memcpy(into->records + (size_t)into->count * store_record_bytes(kind), records,
           (size_t)count * store_record_bytes(kind));
    into->count += count;
    return into->count - count;
}

struct store_string store_writer_string(struct store_writer *writer, const char *text, size_t bytes)
{
    uint32_t at = append(writer, STORE_STRINGS, text, (uint32_t)bytes);
    return (struct store_string){.offset = STORE_BLOCK_BYTES + sizeof(struct store_extent) + at,
                                 .bytes = (uint32_t)bytes};
}

void store_writer_command(struct store_writer *writer, const char *arguments, size_t bytes)
{
    writer->header.command = store_writer_string(writer, arguments, bytes);
}

uint32_t store_writer_record(struct store_writer *writer, enum store_kind kind, const void *record)
{
    return append(writer, kind, record, 1);
}

uint32_t store_writer_device(struct store_writer *writer, uint32_t ordinal)
{
    struct store_device device = {
        .ordinal = ordinal,
        .compute_capability = 90,
        .uuid = {0x17, (uint8_t)ordinal},
        .name = "NVIDIA H200 (simulated)",
        .sms = 132,
        .warp_size = 32,
        .max_threads_per_sm = 2048,
        .max_threads_per_block = 1024,
        .max_blocks_per_sm = 32,
        .registers_per_sm = 65536,
        .registers_per_block = 65536,
        .shared_per_sm_bytes = 228 << 10,
        .shared_per_block_bytes = 48 << 10,
        .shared_per_block_optin_bytes = 227 << 10,
        .reserved_shared_per_block_bytes = 1024,
        .valid = 0x7ff | STORE_DEVICE_VALID_UUID,
    };
    device.check = store_check(&device, offsetof(struct store_device, check));
    return store_writer_record(writer, STORE_DEVICES, &device);
}

uint32_t store_writer_kernel(struct store_writer *writer, const char *mangled, uint32_t registers_per_thread)
{
    struct store_kernel kernel = {
        .name = store_writer_string(writer, mangled, strlen(mangled)),
        .registers_per_thread = registers_per_thread,
        .max_threads_per_block = 1024,
        .binary_version = 90,
        .valid = STORE_KERNEL_ATTRIBUTES,
    };
    kernel.check = store_check(&kernel, sizeof kernel.name + sizeof kernel.image);
    return store_writer_record(writer, STORE_KERNELS, &kernel);
}

uint32_t store_writer_configuration_of(struct store_writer *writer, struct store_configuration configuration)
{
    size_t guarded = offsetof(struct store_configuration, flags) + sizeof configuration.flags;
    configuration.check = store_check(&configuration, guarded);
    return store_writer_record(writer, STORE_CONFIGURATIONS, &configuration);
}

uint32_t store_writer_configuration(struct store_writer *writer, uint32_t kernel, uint32_t device,
                                    uint32_t grid, uint32_t block)
{
    return store_writer_configuration_of(
        writer, (struct store_configuration){.kernel = kernel,
                                             .device = device,
                                             .grid = {grid, 1, 1},
                                             .block = {block, 1, 1},
                                             .cluster = {1, 1, 1},
                                             .carveout_percent = -1,
                                             .valid = STORE_CONFIGURATION_ATTRIBUTES});
}

uint32_t store_writer_body(struct store_writer *writer, const struct store_node *nodes, uint32_t count)
{
    struct store_body body = {.first_node = append(writer, STORE_NODES, nodes, count), .nodes = count};
    body.check = store_check(&body, offsetof(struct store_body, check));
    return store_writer_record(writer, STORE_BODIES, &body);
}

void store_writer_count(struct store_writer *writer, enum store_target kind, uint32_t index,
                        uint64_t launches)
{
    struct store_counter counter = {
        .target = STORE_TARGET(kind, index), .successor = STORE_NO_TARGET, .launches = launches};
    store_writer_record(writer, STORE_COUNTERS, &counter);
}

/* --- layout -------------------------------------------------------------------------------------------- */

static size_t extent_bytes(uint32_t kind, uint32_t count)
{
    size_t bytes = sizeof(struct store_extent) + (size_t)count * store_record_bytes(kind);
    return (bytes + STORE_BLOCK_BYTES - 1) / STORE_BLOCK_BYTES * STORE_BLOCK_BYTES;
}

/* Strings are never split: their offsets are promised. */
static uint32_t records_in_one(const struct store_writer *writer, uint32_t kind, uint32_t left)
{
    uint32_t most = kind == STORE_STRINGS || !writer->records_per_extent ? left : writer->records_per_extent;
    return left < most ? left : most;
}

static size_t image_bytes(const struct store_writer *writer)
{
    size_t total = STORE_BLOCK_BYTES;
    for (uint32_t kind = STORE_STRINGS; kind < STORE_KINDS; kind++) {
        for (uint32_t at = 0; at < writer->kinds[kind].count;) {
            uint32_t count = records_in_one(writer, kind, writer->kinds[kind].count - at);
            total += extent_bytes(kind, count);
            at += count;
        }
    }
    return total;
}

static size_t put_extent(unsigned char *at, uint32_t kind, const unsigned char *records, uint32_t count)
{
    struct store_extent extent = {.magic = STORE_EXTENT_MAGIC,
                                  .kind = kind,
                                  .bytes = extent_bytes(kind, count),
                                  .record_bytes = store_record_bytes(kind),
                                  .capacity = count,
                                  .used = count};
    memcpy(at, &extent, sizeof extent);
    memcpy(at + sizeof extent, records, (size_t)count * store_record_bytes(kind));
    return extent.bytes;
}

unsigned char *store_writer_image(const struct store_writer *writer, size_t *bytes)
{
    *bytes = image_bytes(writer);
    unsigned char *image = or_die(calloc(1, *bytes));
    size_t end = STORE_BLOCK_BYTES;
    for (uint32_t kind = STORE_STRINGS; kind < STORE_KINDS; kind++) {
        const struct store_writer_kind *from = &writer->kinds[kind];
        for (uint32_t at = 0; at < from->count;) {
            uint32_t count = records_in_one(writer, kind, from->count - at);
            end +=
                put_extent(image + end, kind, from->records + (size_t)at * store_record_bytes(kind), count);
            at += count;
        }
    }
    struct store_header header = writer->header;
    header.file_bytes = *bytes;
    header.check = store_check(&header, offsetof(struct store_header, check));
    memcpy(image, &header, sizeof header);
    return image;
}

void store_writer_save_bytes(const char *path, const unsigned char *bytes, size_t count)
{
    FILE *file = or_die(fopen(path, "wb"));
    if (fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        or_die(NULL);
    }
}

void store_writer_save(const struct store_writer *writer, const char *path)
{
    size_t bytes;
    unsigned char *image = store_writer_image(writer, &bytes);
    store_writer_save_bytes(path, image, bytes);
    free(image);
}
