/* From what the client hands over to code for one device. */
#include "image.h"

#include "require.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- the client's bytes -------------------------------------------------------------------------------- */

CUresult source_copy(const void *data, struct source *source)
{
    const void *content = data;
    source->kind = image_measure(data, &content, &source->bytes);
    if (source->kind == IMAGE_UNKNOWN || source->bytes == 0) {
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (source->kind != IMAGE_WRAPPER) {
        content = data;
    }
    source->data = malloc(source->bytes + 1);
    if (!source->data) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(source->data, content, source->bytes);
    ((char *)source->data)[source->bytes] = 0;
    return CUDA_SUCCESS;
}

CUresult source_read(const char *path, void **data, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    struct stat status;
    if (!file) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    char *content = NULL;
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode)) {
        content = calloc(1, (size_t)status.st_size + 8); /* image_measure looks at four bytes at least */
    }
    bool complete = content && fread(content, 1, (size_t)status.st_size, file) == (size_t)status.st_size;
    fclose(file);
    if (!complete) {
        free(content);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    *data = content;
    if (bytes) {
        *bytes = (size_t)status.st_size;
    }
    return CUDA_SUCCESS;
}

void source_free(struct source *source)
{
    free(source->data);
    source->data = NULL;
}

/* --- which code runs on which device ------------------------------------------------------------------- */

/* Binary code runs on its own minor capability and later ones of the same major; 'a' code only on its own. */
static bool binary_runs(int capability, int sm, char variant)
{
    if (variant == 'a') {
        return sm == capability;
    }
    return sm / 10 == capability / 10 && sm <= capability;
}

/* PTX can be compiled for its own capability and every later one, 'a' and 'f' PTX as binary code of that
 * kind. */
static bool ptx_compiles(int capability, int sm, char variant)
{
    return variant ? binary_runs(capability, sm, variant) : sm <= capability;
}

struct choice {
    int capability;
    struct fatbin_entry best;
    bool found;
};

static bool is_better(const struct choice *choice, const struct fatbin_entry *entry)
{
    const struct fatbin_entry *best = &choice->best;
    if (!choice->found) {
        return true;
    }
    if (entry->kind != best->kind) {
        return entry->kind == FATBIN_ELF;
    }
    if (entry->sm != best->sm) {
        return entry->sm > best->sm;
    }
    return entry->variant && !best->variant;
}

static bool consider(const struct fatbin_entry *entry, void *context)
{
    struct choice *choice = context;
    int sm = (int)entry->sm;
    bool runs = entry->kind == FATBIN_ELF   ? binary_runs(choice->capability, sm, entry->variant)
                : entry->kind == FATBIN_PTX ? ptx_compiles(choice->capability, sm, entry->variant)
                                            : false;
    if (runs && !entry->obfuscated && is_better(choice, entry)) {
        choice->best = *entry;
        choice->found = true;
    }
    return true;
}

/* --- describing a cubin -------------------------------------------------------------------------------- */

static int launch_bound(const struct cubin_kernel *kernel)
{
    const uint32_t *bound = kernel->valid & CUBIN_HAS_REQUIRED_BLOCK ? kernel->required_block
                            : kernel->valid & CUBIN_HAS_MAX_THREADS  ? kernel->max_threads
                                                                     : NULL;
    uint64_t threads = bound ? (uint64_t)bound[0] * bound[1] * bound[2] : MAX_THREADS_PER_BLOCK;
    return threads && threads < MAX_THREADS_PER_BLOCK ? (int)threads : MAX_THREADS_PER_BLOCK;
}

/* Registers are given out per warp in units of 256, from a quarter of the SM's file each. */
static int register_bound(const struct cubin_kernel *kernel)
{
    uint32_t per_warp = (kernel->registers_per_thread * WARP_THREADS + 255) & ~255u;
    if (!(kernel->valid & CUBIN_HAS_REGISTERS) || per_warp == 0) {
        return MAX_THREADS_PER_BLOCK;
    }
    int threads = (int)(REGISTERS_PER_SM / 4 / per_warp * 4 * WARP_THREADS);
    return threads < MAX_THREADS_PER_BLOCK ? threads : MAX_THREADS_PER_BLOCK;
}

struct collector {
    struct image *image;
    size_t kernels_capacity, globals_capacity;
    int version;
};

/* Makes room for one more element. */
static bool grow(void **array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity) {
        return true;
    }
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *moved = realloc(*array, larger * element_bytes);
    if (moved) {
        *array = moved;
        *capacity = larger;
    }
    return moved != NULL;
}

static bool collect_kernel(const struct cubin_kernel *kernel, void *context)
{
    struct collector *collector = context;
    struct image *image = collector->image;
    size_t parameters_bytes = kernel->parameters_count * sizeof(struct cubin_parameter);
    void *parameters = malloc(parameters_bytes + 1);
    if (!parameters || !grow((void **)&image->kernels, image->kernels_count, &collector->kernels_capacity,
                             sizeof(*image->kernels))) {
        free(parameters);
        return false;
    }
    struct kernel_code *code = &image->kernels[image->kernels_count++];
    *code = (struct kernel_code){.name = kernel->name, .info = *kernel};
    code->info.parameters = parameters;
    if (parameters_bytes) {
        memcpy(parameters, kernel->parameters, parameters_bytes);
    }
    code->binary_version = code->ptx_version = collector->version;
    code->bound_threads = launch_bound(kernel);
    code->register_threads = register_bound(kernel);
    return true;
}

static bool collect_global(const struct cubin_global *global, void *context)
{
    struct collector *collector = context;
    struct image *image = collector->image;
    if (!grow((void **)&image->globals, image->globals_count, &collector->globals_capacity,
              sizeof(*image->globals))) {
        return false;
    }
    image->globals[image->globals_count++] =
        (struct image_global){strdup(global->name), (size_t)global->bytes, global->initial, global->constant};
    return true;
}

/* A kernel's constant memory is the module's: what it uses of it is not in the file. */
static void share_constants(struct image *image)
{
    size_t bytes = 0;
    for (size_t i = 0; i < image->globals_count; i++) {
        bytes += image->globals[i].constant ? image->globals[i].bytes : 0;
    }
    for (size_t i = 0; i < image->kernels_count; i++) {
        image->kernels[i].constant_bytes = bytes;
    }
}

static CUresult result_of(enum cubin_status status)
{
    switch (status) {
    case CUBIN_OK:
        return CUDA_SUCCESS;
    case CUBIN_STOPPED:
    case CUBIN_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    default:
        return CUDA_ERROR_INVALID_IMAGE;
    }
}

/* Takes over `elf`. */
static CUresult image_describe(const struct device *device, unsigned char *elf, size_t bytes,
                               struct image **made)
{
    struct image *image = calloc(1, sizeof(*image));
    if (!image) {
        free(elf);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *image = (struct image){.references = 1, .elf = elf, .elf_bytes = bytes};
    struct collector collector = {.image = image};
    struct cubin_info info = {0};
    CUresult result = result_of(cubin_read(elf, bytes, &info, NULL, NULL));
    if (result == CUDA_SUCCESS && !binary_runs(device->model->capability, (int)info.sm, info.variant)) {
        result = CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    collector.version = (int)info.sm;
    if (result == CUDA_SUCCESS) {
        result = result_of(cubin_read(elf, bytes, NULL, collect_kernel, &collector));
    }
    if (result == CUDA_SUCCESS) {
        result = result_of(cubin_read_globals(elf, bytes, collect_global, &collector));
    }
    if (result != CUDA_SUCCESS) {
        image_release(image);
        return result;
    }
    share_constants(image);
    *made = image;
    return CUDA_SUCCESS;
}

/* --- loading ------------------------------------------------------------------------------------------- */

static CUresult load_elf(const struct device *device, const void *data, size_t bytes, struct image **image)
{
    unsigned char *copy = malloc(bytes + 1);
    if (!copy) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(copy, data, bytes);
    return image_describe(device, copy, bytes, image);
}

/* An architecture-specific .target decides the variant to compile for. */
static char ptx_variant(const char *ptx)
{
    const char *target = strstr(ptx, ".target");
    const char *sm = target ? strstr(target, "sm_") : NULL;
    if (!sm) {
        return 0;
    }
    sm += 3;
    sm += strspn(sm, "0123456789");
    return *sm == 'a' || *sm == 'f' ? *sm : 0;
}

static CUresult load_ptx(const struct device *device, const char *ptx, size_t bytes, struct jit_options *jit,
                         struct image **image)
{
    unsigned char *cubin;
    size_t cubin_bytes;
    jit->sm = device->model->capability;
    jit->variant = ptx_variant(ptx);
    TRY(jit_compile(ptx, bytes, jit, &cubin, &cubin_bytes));
    return image_describe(device, cubin, cubin_bytes, image);
}

/* Text ends at its first NUL: fat binaries pad it. */
static CUresult load_entry(const struct device *device, const struct fatbin_entry *entry,
                           struct jit_options *jit, struct image **image)
{
    unsigned char *code = calloc(1, entry->uncompressed_bytes + 1);
    if (!code) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = result_of(fatbin_decode(entry, code));
    if (result != CUDA_SUCCESS) {
        free(code);
        return result;
    }
    if (entry->kind == FATBIN_ELF) {
        return image_describe(device, code, entry->uncompressed_bytes, image);
    }
    result = load_ptx(device, (char *)code, strlen((char *)code), jit, image);
    free(code);
    return result;
}

static CUresult load_container(const struct device *device, const struct source *source,
                               struct jit_options *jit, struct image **image)
{
    struct choice choice = {.capability = device->model->capability};
    TRY(result_of(fatbin_walk(source->data, source->bytes, consider, &choice, NULL)));
    return choice.found ? load_entry(device, &choice.best, jit, image) : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult image_load(const struct device *device, const struct source *source, struct jit_options *jit,
                    struct image **image)
{
    switch (source->kind) {
    case IMAGE_CUBIN:
        return load_elf(device, source->data, source->bytes, image);
    case IMAGE_PTX:
        return load_ptx(device, source->data, source->bytes, jit, image);
    default:
        return load_container(device, source, jit, image);
    }
}

struct image *image_retain(struct image *image)
{
    atomic_fetch_add(&image->references, 1);
    return image;
}

void image_release(struct image *image)
{
    if (atomic_fetch_sub(&image->references, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < image->kernels_count; i++) {
        free((void *)image->kernels[i].info.parameters);
    }
    for (size_t i = 0; i < image->globals_count; i++) {
        free(image->globals[i].name);
    }
    free(image->kernels);
    free(image->globals);
    free(image->elf);
    free(image);
}
