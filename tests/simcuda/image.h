/* Code for one compute capability, chosen from a cubin, a fat binary or PTX and described by its kernels. */
#ifndef SIMCUDA_IMAGE_H
#define SIMCUDA_IMAGE_H

#include "device.h"
#include "function.h"
#include "jit.h"

struct image_global {
    char *name;
    size_t bytes;
    const void *initial; /* inside `elf`; NULL: zeros */
    bool constant;
};

struct image {
    _Atomic unsigned references;
    unsigned char *elf; /* what the kernels' names point into */
    size_t elf_bytes;
    struct kernel_code *kernels;
    size_t kernels_count;
    struct image_global *globals;
    size_t globals_count;
};

/* Measures what the client points to and keeps a copy, so that it may be loaded again for another device. */
struct source {
    void *data;
    size_t bytes;
    enum image_kind kind;
};
CUresult source_copy(const void *data, struct source *source);
/* A file's content, ended by NUL; the caller frees it. */
CUresult source_read(const char *path, void **data, size_t *bytes);
void source_free(struct source *source);

/* The image that the driver would pick for the device: INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX … `jit`
 * says how to compile PTX, its architecture is filled in. */
CUresult image_load(const struct device *device, const struct source *source, struct jit_options *jit,
                    struct image **image);
struct image *image_retain(struct image *image);
void image_release(struct image *image);

#endif
