/* Every kernel of a file with its resources: what `warpwatch scan` shows and what the report looks up. */
#ifndef WARPWATCH_SCAN_H
#define WARPWATCH_SCAN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/cubin/cubin.h"

enum scan_origin {
    ORIGIN_LINKED,  /* ready to load, in a host binary or a .fatbin */
    ORIGIN_PRELINK, /* relocatable: numbers may change when it is linked */
    ORIGIN_CUBIN,   /* a bare cubin */
    ORIGIN_PTX      /* text only: an assembler decides at load time */
};
extern const char *const scan_origin_names[]; /* "linked", "pre-link", "cubin", "ptx" */

struct scan_kernel {
    char *mangled;
    uint32_t valid; /* enum cubin_valid; with ORIGIN_PTX also shared memory and barriers are unknown */
    uint32_t registers_per_thread, static_shared_bytes, barriers;
    uint32_t stack_bytes;            /* the kernel's own frame: local arrays and spills */
    uint32_t cumulative_stack_bytes; /* with the functions it calls */
    uint32_t max_threads_per_block;  /* product of the launch bounds */
    uint32_t required_block[3], cluster[3];
    uint32_t parameter_bytes, constant_bytes;
    uint32_t sm;
    char variant; /* 'a', 'f' or 0 */
    uint8_t origin;
    uint32_t container, entry; /* counted from 0 in file order */
};

struct scan_undecodable {
    uint64_t offset;
    const char *reason;
};

struct scan_counts {
    uint32_t containers;
    uint32_t cubins, ptx, lto;   /* entries; bare files count as one */
    uint32_t ptx_only, lto_only; /* containers without a cubin */
    uint32_t skipped;            /* cubins for other architectures than asked for */
};

struct scan_file {
    char *path;
    struct scan_kernel *kernels; /* in file order */
    size_t kernels_count;
    struct scan_undecodable *undecodable;
    size_t undecodable_count;
    struct scan_counts counts;
};

struct scan_options {
    uint32_t sm;           /* only this architecture, 90 = sm_90; 0: all */
    char variant;          /* with sm: only this variant; 0: all of them */
    int device_capability; /* only what such a device would load; 0: all */
    const regex_t *kernel; /* only kernels whose mangled or full name matches; NULL: all */
    bool progress;         /* a line on the terminal */
};

/* Fills *file, which the caller frees. NULL, or why the file cannot be read; faults inside it are listed in
 * file->undecodable instead. */
const char *scan_file_read(const char *path, const struct scan_options *options, struct scan_file *file);
void scan_file_free(struct scan_file *file);
/* No device code at all, whatever was asked for. */
bool scan_is_empty(const struct scan_file *file);

/* "sm_90", "90", "9.0", "sm_90a"; false if it is none of these. */
bool scan_parse_arch(const char *text, uint32_t *sm, char *variant);

/* "sm_90a" */
#define SCAN_ARCH_BYTES 16
void scan_format_arch(const struct scan_kernel *kernel, char text[SCAN_ARCH_BYTES]);

/* Whether registers, shared memory and barriers are known. */
static inline bool scan_has_resources(const struct scan_kernel *kernel)
{
    return kernel->origin != ORIGIN_PTX;
}

#endif
