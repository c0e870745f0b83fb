/* The files of a directory that hold a few kernels each, taken together: compilers' caches have hundreds. */
#ifndef WARPWATCH_SCAN_SMALL_FILES_H
#define WARPWATCH_SCAN_SMALL_FILES_H

#include "scan.h"

#define SMALL_FILE_KERNELS_MOST 16

struct small_files {
    const char *directory; /* NULL: none gathered */
    size_t count;
    struct scan_file all; /* containers are those of its file each: not unique */
};

bool small_files_take(const struct scan_file *file);
/* A copy. False: out of memory. */
bool small_files_add(struct small_files *small, const char *directory, const struct scan_file *file);
/* Leaves out PTX beside a cubin of the same kernel, as Triton keeps it. To be called before the kernels are
 * used. */
void small_files_finish(struct small_files *small);
void small_files_free(struct small_files *small);

#endif
