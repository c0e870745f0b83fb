/* Libraries and their kernels: code that is not tied to a context. A library is loaded as a module into each
 * context that launches one of its kernels. */
#include "module.h"

#include "capture.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

static struct pool library_pool = POOL(struct CUlib_st);
static struct pool kernel_pool = POOL(struct CUkern_st);

/* --- images and modules -------------------------------------------------------------------------------- */

/* Under the lock. */
static CUresult image_on(struct CUlib_st *library, const struct device *device, struct image **image)
{
    struct image **slot = &library->images[device->ordinal];
    if (!*slot) {
        TRY(image_load(device, &library->source, &library->jit, slot));
    }
    *image = *slot;
    return CUDA_SUCCESS;
}

static void link_kernels(struct CUlib_st *library, struct CUmod_st *module)
{
    for (size_t i = 0; i < library->images[0]->kernels_count; i++) {
        struct CUfunc_st *function;
        if (module_function(module, library->kernels[i]->code->name, &function) == CUDA_SUCCESS) {
            function->kernel = library->kernels[i];
        }
    }
}

static CUresult make_module(struct CUlib_st *library, struct CUctx_st *context, struct CUmod_st **made)
{
    struct image *image;
    TRY(image_on(library, context->device, &image));
    struct CUmod_st *module;
    TRY(module_make(context, image_retain(image), &module));
    module->library = library;
    module->next_of_library = library->modules;
    library->modules = module;
    link_kernels(library, module);
    *made = module;
    return CUDA_SUCCESS;
}

CUresult library_module(struct CUlib_st *library, struct CUctx_st *context, struct CUmod_st **module)
{
    pthread_mutex_lock(&library->lock);
    struct CUmod_st *known = library->modules;
    while (known && known->context != context) {
        known = known->next_of_library;
    }
    *module = known;
    CUresult result = known ? CUDA_SUCCESS : make_module(library, context, module);
    pthread_mutex_unlock(&library->lock);
    return result;
}

void library_forget(struct CUlib_st *library, struct CUmod_st *module)
{
    pthread_mutex_lock(&library->lock);
    struct CUmod_st **link = &library->modules;
    while (*link && *link != module) {
        link = &(*link)->next_of_library;
    }
    if (*link) {
        *link = module->next_of_library;
    }
    pthread_mutex_unlock(&library->lock);
}

CUresult kernel_code_on(struct CUkern_st *kernel, const struct device *device,
                        const struct kernel_code **code)
{
    struct CUlib_st *library = kernel->library;
    struct image *image;
    pthread_mutex_lock(&library->lock);
    CUresult result = image_on(library, device, &image);
    pthread_mutex_unlock(&library->lock);
    for (size_t i = 0; result == CUDA_SUCCESS && i < image->kernels_count; i++) {
        if (strcmp(image->kernels[i].name, kernel->code->name) == 0) {
            *code = &image->kernels[i];
            return CUDA_SUCCESS;
        }
    }
    return result == CUDA_SUCCESS ? CUDA_ERROR_NOT_FOUND : result;
}

CUresult kernel_function(struct CUkern_st *kernel, struct CUctx_st *context, struct CUfunc_st **function)
{
    struct CUfunc_st *latest = atomic_load_explicit(&kernel->latest, memory_order_acquire);
    if (object_is(latest, OBJECT_FUNCTION) && latest->kernel == kernel && latest->context == context) {
        *function = latest;
        return CUDA_SUCCESS;
    }
    struct CUmod_st *module;
    TRY(library_module(kernel->library, context, &module));
    TRY(module_function(module, kernel->code->name, function));
    atomic_store_explicit(&kernel->latest, *function, memory_order_release);
    return CUDA_SUCCESS;
}

/* --- life ---------------------------------------------------------------------------------------------- */

static CUresult make_kernels(struct CUlib_st *library)
{
    const struct image *image = library->images[0];
    library->kernels = calloc(image->kernels_count + 1, sizeof(struct CUkern_st *));
    for (size_t i = 0; library->kernels && i < image->kernels_count; i++) {
        struct CUkern_st *kernel = pool_take(&kernel_pool, OBJECT_KERNEL);
        if (!kernel) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        kernel->library = library;
        kernel->code = &image->kernels[i];
        library->kernels[i] = kernel;
    }
    return library->kernels ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void library_end(struct CUlib_st *library)
{
    while (library->modules) {
        struct CUmod_st *module = library->modules;
        library->modules = module->next_of_library;
        module_end(module);
    }
    for (size_t i = 0; library->kernels && library->kernels[i]; i++) {
        pool_give(&kernel_pool, library->kernels[i]);
    }
    free(library->kernels);
    for (int i = 0; i < MAX_DEVICES; i++) {
        if (library->images[i]) {
            image_release(library->images[i]);
        }
    }
    source_free(&library->source);
    pool_give(&library_pool, library);
}

/* Kernels are those of the code for the first device, so that they exist without a context. */
static CUresult load(CUlibrary *handle, const void *data, unsigned count, CUjit_option *options,
                     void **values)
{
    REQUIRE(handle && data && (count == 0 || (options && values)));
    TRY(capture_forbids_unsafe());
    struct CUlib_st *library = pool_take(&library_pool, OBJECT_LIBRARY);
    if (!library) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_init(&library->lock, NULL);
    jit_options_read(&library->jit, count, options, values);
    struct image *image;
    CUresult result = source_copy(data, &library->source);
    if (result == CUDA_SUCCESS) {
        result = image_on(library, device_of(0), &image);
    }
    if (result == CUDA_SUCCESS) {
        result = make_kernels(library);
    }
    if (result != CUDA_SUCCESS) {
        library_end(library);
        return result;
    }
    library->jit = (struct jit_options){.max_registers = library->jit.max_registers,
                                        .optimization_level = library->jit.optimization_level,
                                        .optimization_set = library->jit.optimization_set};
    for (size_t i = 0; i < library->images[0]->kernels_count; i++) {
        object_publish(library->kernels[i]);
    }
    *handle = library;
    return CUDA_SUCCESS;
}

/* --- exported ------------------------------------------------------------------------------------------ */

CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *data, CUjit_option *options, void **values,
                                   unsigned count, CUlibraryOption *library_options, void **library_values,
                                   unsigned library_count)
{
    ENTER(cuLibraryLoadData);
    (void)library_options, (void)library_values, (void)library_count;
    return load(library, data, count, options, values);
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options,
                                       void **values, unsigned count, CUlibraryOption *library_options,
                                       void **library_values, unsigned library_count)
{
    ENTER(cuLibraryLoadFromFile);
    (void)library_options, (void)library_values, (void)library_count;
    REQUIRE(path);
    void *data;
    TRY(source_read(path, &data, NULL));
    CUresult result = load(library, data, count, options, values);
    free(data);
    return result;
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
    ENTER(cuLibraryUnload);
    REQUIRE_HANDLE(library, OBJECT_LIBRARY, cuLibraryUnload);
    library_end(library);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    ENTER(cuLibraryGetKernel);
    REQUIRE(kernel && name && *name);
    REQUIRE_HANDLE(library, OBJECT_LIBRARY, cuLibraryGetKernel);
    for (size_t i = 0; library->kernels[i]; i++) {
        if (strcmp(library->kernels[i]->code->name, name) == 0) {
            *kernel = library->kernels[i];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult CUDAAPI cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
    ENTER(cuLibraryGetKernelCount);
    REQUIRE(count);
    REQUIRE_HANDLE(library, OBJECT_LIBRARY, cuLibraryGetKernelCount);
    *count = (unsigned)library->images[0]->kernels_count;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library)
{
    ENTER(cuLibraryEnumerateKernels);
    REQUIRE(kernels && count);
    REQUIRE_HANDLE(library, OBJECT_LIBRARY, cuLibraryEnumerateKernels);
    for (unsigned i = 0; i < count && library->kernels[i]; i++) {
        kernels[i] = library->kernels[i];
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    ENTER_IN_CONTEXT(cuLibraryGetModule, context);
    REQUIRE(module);
    REQUIRE_HANDLE(library, OBJECT_LIBRARY, cuLibraryGetModule);
    return library_module(library, context->root, module);
}

CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    ENTER_IN_CONTEXT(cuLibraryGetGlobal, context);
    REQUIRE(name && (address || bytes));
    REQUIRE_HANDLE(library, OBJECT_LIBRARY, cuLibraryGetGlobal);
    struct CUmod_st *module;
    TRY(library_module(library, context->root, &module));
    return module_global(module, name, address, bytes);
}

CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    ENTER_IN_CONTEXT(cuLibraryGetManaged, context);
    REQUIRE(name && (address || bytes));
    REQUIRE_HANDLE(library, OBJECT_LIBRARY, cuLibraryGetManaged);
    struct CUmod_st *module;
    TRY(library_module(library, context->root, &module));
    return module_global(module, name, address, bytes);
}

CUresult CUDAAPI cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *symbol)
{
    ENTER(cuLibraryGetUnifiedFunction);
    REQUIRE(function && symbol);
    REQUIRE_HANDLE(library, OBJECT_LIBRARY, cuLibraryGetUnifiedFunction);
    return CUDA_ERROR_NOT_FOUND;
}
