/* Where in a file device code may lie. */
#ifndef WARPWATCH_HOST_FILE_H
#define WARPWATCH_HOST_FILE_H

#include "file_reader.h"

enum host_region_kind {
    REGION_DATA,  /* data section of a host binary: containers at 8-aligned addresses */
    REGION_LOOSE, /* any other file: containers and cubins at any offset */
    REGION_FATBIN,
    REGION_CUBIN,
    REGION_PTX
};

struct host_region {
    enum host_region_kind kind;
    uint64_t offset, bytes;
    uint64_t address; /* REGION_DATA: of its first byte in memory; sections need not start aligned */
};
typedef void host_region_visitor(const struct host_region *region, void *context);

/* Visits the regions of a file in file order. NULL, or why the file cannot be read. */
const char *host_file_regions(struct file_reader *reader, host_region_visitor *visit, void *context);

/* Whether it is an archive or stream whose content only shows once unpacked: a wheel, a tarball. */
bool host_file_is_packed(struct file_reader *reader);

#endif
