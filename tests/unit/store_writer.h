/* Composes store files for tests, by the format header alone: what the report must read can be written down,
 * whole or damaged, without a shim or a driver. Out of memory ends the test. */
#ifndef WARPWATCH_STORE_WRITER_H
#define WARPWATCH_STORE_WRITER_H

#include <stddef.h>

#include "shim/store_format.h"

struct store_writer {
    struct store_header header;  /* to be changed freely before the file is made */
    uint32_t records_per_extent; /* 0: one extent a kind */
    struct store_writer_kind {
        unsigned char *records;
        uint32_t count, capacity;
    } kinds[STORE_KINDS];
};

/* A finished process "pid" on host "node1", one second long. */
void store_writer_begin(struct store_writer *writer, uint32_t pid);
void store_writer_free(struct store_writer *writer);

/* Arguments joined by NULs: "python\0train.py". */
void store_writer_command(struct store_writer *writer, const char *arguments, size_t bytes);
struct store_string store_writer_string(struct store_writer *writer, const char *text, size_t bytes);

/* Each appends a record with its check and returns its index. */
uint32_t store_writer_record(struct store_writer *writer, enum store_kind kind, const void *record);
/* H200-like limits: capability 9.0, 132 SMs, the ordinal in the UUID. */
uint32_t store_writer_device(struct store_writer *writer, uint32_t ordinal);
uint32_t store_writer_kernel(struct store_writer *writer, const char *mangled, uint32_t registers_per_thread);
uint32_t store_writer_configuration(struct store_writer *writer, uint32_t kernel, uint32_t device,
                                    uint32_t grid, uint32_t block);
uint32_t store_writer_configuration_of(struct store_writer *writer, struct store_configuration configuration);
/* A graph body of `count` nodes. */
uint32_t store_writer_body(struct store_writer *writer, const struct store_node *nodes, uint32_t count);
void store_writer_count(struct store_writer *writer, enum store_target kind, uint32_t index,
                        uint64_t launches);

/* Lays the file out in malloc'd memory. */
unsigned char *store_writer_image(const struct store_writer *writer, size_t *bytes);
void store_writer_save(const struct store_writer *writer, const char *path);
void store_writer_save_bytes(const char *path, const unsigned char *bytes, size_t count);

#endif
