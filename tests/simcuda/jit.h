/* PTX to cubin and linking, by the toolkit's ptxas and nvlink. */
#ifndef SIMCUDA_JIT_H
#define SIMCUDA_JIT_H

#include "driver.h"

struct jit_options {
    int sm;                                     /* 90 = sm_90 */
    char variant;                               /* 'a', 'f' or 0 */
    unsigned max_registers, optimization_level; /* 0: the tool's own */
    bool optimization_set, relocatable;
    char *error_log, *info_log; /* the client's buffers */
    size_t error_log_bytes, info_log_bytes;
    void **error_log_size, **info_log_size; /* where to tell how much was written */
};

/* Reads the options of cuModuleLoadDataEx and cuLinkCreate. */
void jit_options_read(struct jit_options *jit, unsigned count, const CUjit_option *options, void **values);

/* Fills *cubin, which the caller frees: INVALID_PTX, UNSUPPORTED_PTX_VERSION or JIT_COMPILER_NOT_FOUND. The
 * same text is compiled once. */
CUresult jit_compile(const char *ptx, size_t ptx_bytes, const struct jit_options *jit, unsigned char **cubin,
                     size_t *cubin_bytes);

/* A new directory for temporary files. */
#define JIT_PATH_BYTES 512
bool jit_directory(char *path, size_t bytes);

/* Links files of relocatable code. */
CUresult jit_link(char *const *files, size_t files_count, const struct jit_options *jit,
                  unsigned char **cubin, size_t *cubin_bytes);

#endif
