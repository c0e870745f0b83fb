/* Modules: an image in a context, its functions and its global variables. */
#include "module.h"

#include "capture.h"
#include "memory.h"
#include "require.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>

static struct pool module_pool = POOL(struct CUmod_st);
static struct pool function_pool = POOL(struct CUfunc_st);

/* --- life ---------------------------------------------------------------------------------------------- */

CUresult module_make(struct CUctx_st *context, struct image *image, struct CUmod_st **made)
{
    struct CUmod_st *module = pool_take(&module_pool, OBJECT_MODULE);
    void *functions = calloc(image->kernels_count + 1, sizeof(struct CUfunc_st *));
    void *globals = calloc(image->globals_count + 1, sizeof(struct module_global));
    if (!module || !functions || !globals) {
        free(functions);
        free(globals);
        image_release(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->context = context;
    module->image = image;
    module->functions = functions;
    module->globals = globals;
    pthread_mutex_lock(&context->lock);
    module->next = context->modules;
    context->modules = module;
    pthread_mutex_unlock(&context->lock);
    *made = module;
    return CUDA_SUCCESS;
}

static void unlink_from_context(struct CUmod_st *module)
{
    struct CUctx_st *context = module->context;
    pthread_mutex_lock(&context->lock);
    struct CUmod_st **link = &context->modules;
    while (*link && *link != module) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = module->next;
    }
    pthread_mutex_unlock(&context->lock);
}

void module_end(struct CUmod_st *module)
{
    unlink_from_context(module);
    for (size_t i = 0; i < module->image->kernels_count; i++) {
        if (module->functions[i]) {
            pool_give(&function_pool, module->functions[i]);
        }
    }
    for (size_t i = 0; i < module->image->globals_count; i++) {
        if (module->globals[i].address) {
            memory_release(module->globals[i].address, MEMORY_GLOBAL);
        }
    }
    free(module->functions);
    free(module->globals);
    image_release(module->image);
    pool_give(&module_pool, module);
}

void modules_destroy(struct CUctx_st *context)
{
    while (context->modules) {
        struct CUmod_st *module = context->modules;
        if (module->library) {
            library_forget(module->library, module);
        }
        module_end(module);
    }
}

/* --- contents ------------------------------------------------------------------------------------------ */

CUresult module_function_at(struct CUmod_st *module, size_t index, struct CUfunc_st **made)
{
    struct CUctx_st *context = module->context;
    pthread_mutex_lock(&context->lock);
    struct CUfunc_st *function = module->functions[index];
    if (!function) {
        function = pool_take(&function_pool, OBJECT_FUNCTION);
        if (function) {
            function->code = &module->image->kernels[index];
            function->module = module;
            function->context = context;
            module->functions[index] = function;
        }
    }
    pthread_mutex_unlock(&context->lock);
    *made = function;
    return function ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult module_function(struct CUmod_st *module, const char *name, struct CUfunc_st **function)
{
    for (size_t i = 0; i < module->image->kernels_count; i++) {
        if (strcmp(module->image->kernels[i].name, name) == 0) {
            return module_function_at(module, i, function);
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

static CUresult global_memory(struct CUmod_st *module, size_t index)
{
    struct CUctx_st *context = module->context;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&context->lock);
    if (!module->globals[index].address) {
        const struct image_global *global = &module->image->globals[index];
        struct memory_range range = {
            .bytes = global->bytes, .kind = MEMORY_GLOBAL, .context = context, .device = context->device};
        result = memory_allocate(&range);
        module->globals[index].address = range.address;
        if (result == CUDA_SUCCESS && global->initial) {
            memcpy((void *)range.address, global->initial, global->bytes);
        }
    }
    pthread_mutex_unlock(&context->lock);
    return result;
}

CUresult module_global(struct CUmod_st *module, const char *name, CUdeviceptr *address, size_t *bytes)
{
    for (size_t i = 0; i < module->image->globals_count; i++) {
        const struct image_global *global = &module->image->globals[i];
        if (strcmp(global->name, name) == 0 && global->bytes) {
            TRY(global_memory(module, i));
            if (address) {
                *address = module->globals[i].address;
            }
            if (bytes) {
                *bytes = global->bytes;
            }
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

/* --- exported: loading --------------------------------------------------------------------------------- */

static CUresult load(struct CUctx_st *context, CUmodule *module, const void *data, struct jit_options *jit)
{
    REQUIRE(module && data);
    TRY(capture_forbids_unsafe());
    struct source source;
    struct image *image;
    TRY(source_copy(data, &source));
    CUresult result = image_load(context->device, &source, jit, &image);
    source_free(&source);
    return result == CUDA_SUCCESS ? module_make(context->root, image, module) : result;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *data)
{
    ENTER_IN_CONTEXT(cuModuleLoadData, context);
    struct jit_options jit = {0};
    return load(context, module, data, &jit);
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *data, unsigned count, CUjit_option *options,
                                    void **values)
{
    ENTER_IN_CONTEXT(cuModuleLoadDataEx, context);
    REQUIRE(count == 0 || (options && values));
    struct jit_options jit = {0};
    jit_options_read(&jit, count, options, values);
    return load(context, module, data, &jit);
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *data)
{
    ENTER_IN_CONTEXT(cuModuleLoadFatBinary, context);
    struct jit_options jit = {0};
    return load(context, module, data, &jit);
}

CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *path)
{
    ENTER_IN_CONTEXT(cuModuleLoad, context);
    REQUIRE(module && path);
    void *data;
    TRY(source_read(path, &data, NULL));
    struct jit_options jit = {0};
    CUresult result = load(context, module, data, &jit);
    free(data);
    return result;
}

CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
    ENTER_IN_CONTEXT(cuModuleUnload, context);
    (void)context;
    REQUIRE_HANDLE(module, OBJECT_MODULE, cuModuleUnload);
    if (module->library) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    module_end(module);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    ENTER(cuModuleGetLoadingMode);
    REQUIRE(mode);
    *mode = settings.eager_loading ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* --- exported: contents -------------------------------------------------------------------------------- */

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER_IN_CONTEXT(cuModuleGetFunction, context);
    (void)context;
    REQUIRE(function && name && *name);
    REQUIRE_HANDLE(module, OBJECT_MODULE, cuModuleGetFunction);
    return module_function(module, name, function);
}

CUresult CUDAAPI cuModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    ENTER(cuModuleGetFunctionCount);
    REQUIRE(count);
    REQUIRE_HANDLE(module, OBJECT_MODULE, cuModuleGetFunctionCount);
    *count = (unsigned)module->image->kernels_count;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module)
{
    ENTER(cuModuleEnumerateFunctions);
    REQUIRE(functions && count);
    REQUIRE_HANDLE(module, OBJECT_MODULE, cuModuleEnumerateFunctions);
    for (size_t i = 0; i < count && i < module->image->kernels_count; i++) {
        TRY(module_function_at(module, i, &functions[i]));
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    ENTER_IN_CONTEXT(cuModuleGetGlobal_v2, context);
    (void)context;
    REQUIRE(name && (address || bytes));
    REQUIRE_HANDLE(module, OBJECT_MODULE, cuModuleGetGlobal_v2);
    return module_global(module, name, address, bytes);
}

CUresult CUDAAPI cuModuleGetTexRef(CUtexref *texture, CUmodule module, const char *name)
{
    ENTER_IN_CONTEXT(cuModuleGetTexRef, context);
    (void)context;
    REQUIRE(texture && name);
    REQUIRE_HANDLE(module, OBJECT_MODULE, cuModuleGetTexRef);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult CUDAAPI cuModuleGetSurfRef(CUsurfref *surface, CUmodule module, const char *name)
{
    ENTER_IN_CONTEXT(cuModuleGetSurfRef, context);
    (void)context;
    REQUIRE(surface && name);
    REQUIRE_HANDLE(module, OBJECT_MODULE, cuModuleGetSurfRef);
    return CUDA_ERROR_NOT_FOUND;
}
