/* cuLink*: the inputs become files, which nvlink makes one cubin of. */
#include "context.h"
#include "image.h"
#include "jit.h"
#include "require.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_INPUTS 64

struct CUlinkState_st {
    struct object object;
    struct device *device;
    struct jit_options jit;
    char directory[JIT_PATH_BYTES];
    char *files[MAX_INPUTS]; /* relocatable code for nvlink */
    size_t files_count;
    char *ptx; /* an only input of PTX is not linked but compiled */
    size_t ptx_bytes;
    unsigned char *cubin;
};

static struct pool linker_pool = POOL(struct CUlinkState_st);

/* --- inputs -------------------------------------------------------------------------------------------- */

static CUresult file_add(struct CUlinkState_st *linker, const char *suffix, const void *data, size_t bytes)
{
    REQUIRE(linker->files_count < MAX_INPUTS);
    char path[JIT_PATH_BYTES + 32];
    snprintf(path, sizeof(path), "%s/%zu.%s", linker->directory, linker->files_count, suffix);
    FILE *file = fopen(path, "we");
    bool written = file && fwrite(data, 1, bytes, file) == bytes;
    if (!file || fclose(file) != 0 || !written) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    linker->files[linker->files_count++] = strdup(path);
    return CUDA_SUCCESS;
}

static CUresult ptx_add(struct CUlinkState_st *linker, const char *ptx, size_t bytes)
{
    bytes = strnlen(ptx, bytes);
    struct jit_options jit = linker->jit;
    jit.relocatable = true;
    unsigned char *cubin;
    size_t cubin_bytes;
    TRY(jit_compile(ptx, bytes, &jit, &cubin, &cubin_bytes));
    CUresult result = file_add(linker, "cubin", cubin, cubin_bytes);
    free(cubin);
    if (result == CUDA_SUCCESS && !linker->ptx) {
        linker->ptx = strndup(ptx, bytes);
        linker->ptx_bytes = bytes;
    }
    return result;
}

static CUresult add(struct CUlinkState_st *linker, CUjitInputType type, const void *data, size_t bytes)
{
    REQUIRE(data && bytes);
    switch ((int)type) {
    case CU_JIT_INPUT_PTX:
        return ptx_add(linker, data, bytes);
    case CU_JIT_INPUT_CUBIN:
        return file_add(linker, "cubin", data, bytes);
    case CU_JIT_INPUT_FATBINARY:
        return file_add(linker, "fatbin", data, bytes);
    case CU_JIT_INPUT_OBJECT:
        return file_add(linker, "o", data, bytes);
    case CU_JIT_INPUT_LIBRARY:
        return file_add(linker, "a", data, bytes);
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static CUresult add_file(struct CUlinkState_st *linker, CUjitInputType type, const char *path)
{
    REQUIRE(path);
    void *data;
    size_t bytes;
    TRY(source_read(path, &data, &bytes));
    CUresult result = add(linker, type, data, bytes);
    free(data);
    return result;
}

/* --- exported ------------------------------------------------------------------------------------------ */

CUresult CUDAAPI cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    ENTER_IN_CONTEXT(cuLinkCreate_v2, context);
    REQUIRE(state && (count == 0 || (options && values)));
    struct CUlinkState_st *linker = pool_take(&linker_pool, OBJECT_LINKER);
    if (!linker) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!jit_directory(linker->directory, sizeof(linker->directory))) {
        pool_give(&linker_pool, linker);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    linker->device = context->device;
    jit_options_read(&linker->jit, count, options, values);
    linker->jit.sm = context->device->model->capability;
    *state = linker;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLinkAddData_v2(CUlinkState linker, CUjitInputType type, void *data, size_t bytes,
                                  const char *name, unsigned count, CUjit_option *options, void **values)
{
    ENTER(cuLinkAddData_v2);
    (void)name, (void)count, (void)options, (void)values;
    REQUIRE_HANDLE(linker, OBJECT_LINKER, cuLinkAddData_v2);
    return add(linker, type, data, bytes);
}

CUresult CUDAAPI cuLinkAddFile_v2(CUlinkState linker, CUjitInputType type, const char *path, unsigned count,
                                  CUjit_option *options, void **values)
{
    ENTER(cuLinkAddFile_v2);
    (void)count, (void)options, (void)values;
    REQUIRE_HANDLE(linker, OBJECT_LINKER, cuLinkAddFile_v2);
    return add_file(linker, type, path);
}

CUresult CUDAAPI cuLinkComplete(CUlinkState linker, void **cubin, size_t *bytes)
{
    ENTER(cuLinkComplete);
    REQUIRE_HANDLE(linker, OBJECT_LINKER, cuLinkComplete);
    REQUIRE(cubin && linker->files_count && !linker->cubin);
    size_t length;
    if (linker->files_count == 1 && linker->ptx) {
        TRY(jit_compile(linker->ptx, linker->ptx_bytes, &linker->jit, &linker->cubin, &length));
    } else {
        TRY(jit_link(linker->files, linker->files_count, &linker->jit, &linker->cubin, &length));
    }
    *cubin = linker->cubin;
    if (bytes) {
        *bytes = length;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState linker)
{
    ENTER(cuLinkDestroy);
    REQUIRE_HANDLE(linker, OBJECT_LINKER, cuLinkDestroy);
    for (size_t i = 0; i < linker->files_count; i++) {
        unlink(linker->files[i]);
        free(linker->files[i]);
    }
    rmdir(linker->directory);
    free(linker->ptx);
    free(linker->cubin);
    pool_give(&linker_pool, linker);
    return CUDA_SUCCESS;
}
