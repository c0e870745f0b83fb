/* Code for one compute capability, chosen from a cubin, a fat binary or PTX and described by its kernels. */
#ifndef SIMCUDA_IMAGE_H
#define SIMCUDA_IMAGE_H

#include "device.h"
#include "function.h"

struct image_global {
    char *name;
    size_t bytes;
    bool constant;
};

struct image {
    _Atomic unsigned references;
    unsigned char *elf; /* what kernels' names and parameters point into */
    size_t elf_bytes;
    struct kernel_code *kernels;
    size_t kernels_count;
    struct image_global *globals;
    size_t globals_count;
};

/* The image that the driver would pick of `data` for the device: INVALID_IMAGE, NO_BINARY_FOR_GPU,
 * INVALID_PTX, JIT_COMPILER_NOT_FOUND … */
CUresult image_load(const struct device *device, const void *data, struct image **image);
struct image *image_retain(struct image *image);
void image_release(struct image *image);

#endif
