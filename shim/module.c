/* Hooks of modules, libraries and kernel handles: where a handle comes from, what it is, and when it ends. */
#include "describe.h"
#include "elf_object.h"
#include "hook.h"
#include "plugin_host.h"
#include "recorder_state.h"
#include "registry.h"
#include "resolve.h"
#include "store_format.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Code in memory mostly lies in a fat binary of a loaded file: name that file. */
static void file_of(const void *image, char path[PATH_MAX])
{
    struct elf_object object;
    path[0] = '\0';
    if (!elf_object_holding(image, &object)) {
        return;
    }
    if (object.path[0] == '\0') {
        ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - 1);
        path[bytes > 0 ? bytes : 0] = '\0';
    } else if (strlen(object.path) < PATH_MAX) {
        memcpy(path, object.path, strlen(object.path) + 1);
    }
}

static void note_owner(void *owner, bool in_context, const char *image)
{
    CUcontext context = in_context ? describe_current_context() : NULL;
    recorder_lock_take();
    registry_note_owner(owner, context, image);
    recorder_lock_give();
}

static void note_owner_of_data(void *owner, bool in_context, const void *image)
{
    KEEP_ERRNO;
    char path[PATH_MAX];
    file_of(image, path);
    note_owner(owner, in_context, path);
}

/* The name is kept: while streams are captured the driver may not be asked, and the code may be gone before
 * it may. */
static void note_handle(void *handle, enum handle_kind kind, void *owner, const char *name)
{
    KEEP_ERRNO;
    CUcontext context = kind == HANDLE_FUNCTION ? describe_current_context() : NULL;
    recorder_lock_take();
    registry_note(handle, kind, owner, context, name);
    recorder_lock_give();
}

static CUresult module_load(struct call call, CUmodule *module, const char *path)
{
    plugin_open();
    CUresult result = REAL(cuModuleLoad)(module, path);
    if (result == CUDA_SUCCESS) {
        note_owner(*module, true, path);
    }
    return result;
}

static CUresult module_load_data(struct call call, CUmodule *module, const void *image)
{
    plugin_open();
    CUresult result = REAL(cuModuleLoadData)(module, image);
    if (result == CUDA_SUCCESS) {
        note_owner_of_data(*module, true, image);
    }
    return result;
}

static CUresult module_load_data_ex(struct call call, CUmodule *module, const void *image, unsigned count,
                                    CUjit_option *options, void **values)
{
    plugin_open();
    CUresult result = REAL(cuModuleLoadDataEx)(module, image, count, options, values);
    if (result == CUDA_SUCCESS) {
        note_owner_of_data(*module, true, image);
    }
    return result;
}

static uint32_t ending(void *owner)
{
    resolve_pause();
    recorder_lock_take();
    uint32_t number = registry_owner_ending(owner);
    recorder_lock_give();
    resolve_go_on();
    return number;
}

static void ended(uint32_t number, CUresult result)
{
    recorder_lock_take();
    registry_owner_ended(number, result == CUDA_SUCCESS);
    recorder_lock_give();
}

static CUresult module_unload(struct call call, CUmodule module)
{
    uint32_t owner = ending(module);
    CUresult result = REAL(cuModuleUnload)(module);
    ended(owner, result);
    return result;
}

static CUresult module_get_function(struct call call, CUfunction *function, CUmodule module, const char *name)
{
    CUresult result = REAL(cuModuleGetFunction)(function, module, name);
    if (result == CUDA_SUCCESS) {
        note_handle(*function, HANDLE_FUNCTION, module, name);
    }
    return result;
}

/* Fills what there is, up to `count`; the rest of the array stays as it was. */
static CUresult module_enumerate(struct call call, CUfunction *functions, unsigned count, CUmodule module)
{
    CUresult result = REAL(cuModuleEnumerateFunctions)(functions, count, module);
    unsigned exist = 0;
    const struct driver_queries *driver = driver_query();
    if (result == CUDA_SUCCESS && driver->cuModuleGetFunctionCount &&
        driver->cuModuleGetFunctionCount(&exist, module) == CUDA_SUCCESS) {
        for (unsigned i = 0; i < count && i < exist; i++) {
            note_handle(functions[i], HANDLE_FUNCTION, module, NULL);
        }
    }
    return result;
}

static CUresult library_load_data(struct call call, CUlibrary *library, const void *image,
                                  CUjit_option *jit_options, void **jit_values, unsigned jit_count,
                                  CUlibraryOption *options, void **values, unsigned count)
{
    plugin_open();
    CUresult result =
        REAL(cuLibraryLoadData)(library, image, jit_options, jit_values, jit_count, options, values, count);
    if (result == CUDA_SUCCESS) {
        note_owner_of_data(*library, false, image);
    }
    return result;
}

static CUresult library_load_file(struct call call, CUlibrary *library, const char *path,
                                  CUjit_option *jit_options, void **jit_values, unsigned jit_count,
                                  CUlibraryOption *options, void **values, unsigned count)
{
    plugin_open();
    CUresult result = REAL(cuLibraryLoadFromFile)(library, path, jit_options, jit_values, jit_count, options,
                                                  values, count);
    if (result == CUDA_SUCCESS) {
        note_owner(*library, false, path);
    }
    return result;
}

static CUresult library_unload(struct call call, CUlibrary library)
{
    uint32_t owner = ending(library);
    CUresult result = REAL(cuLibraryUnload)(library);
    ended(owner, result);
    return result;
}

static CUresult library_get_kernel(struct call call, CUkernel *kernel, CUlibrary library, const char *name)
{
    CUresult result = REAL(cuLibraryGetKernel)(kernel, library, name);
    if (result == CUDA_SUCCESS) {
        note_handle(*kernel, HANDLE_KERNEL, library, name);
    }
    return result;
}

static CUresult library_enumerate(struct call call, CUkernel *kernels, unsigned count, CUlibrary library)
{
    CUresult result = REAL(cuLibraryEnumerateKernels)(kernels, count, library);
    unsigned exist = 0;
    const struct driver_queries *driver = driver_query();
    if (result == CUDA_SUCCESS && driver->cuLibraryGetKernelCount &&
        driver->cuLibraryGetKernelCount(&exist, library) == CUDA_SUCCESS) {
        for (unsigned i = 0; i < count && i < exist; i++) {
            note_handle(kernels[i], HANDLE_KERNEL, library, NULL);
        }
    }
    return result;
}

/* The module is a view of the library: it ends with it. */
static CUresult library_get_module(struct call call, CUmodule *module, CUlibrary library)
{
    CUresult result = REAL(cuLibraryGetModule)(module, library);
    if (result == CUDA_SUCCESS) {
        CUcontext context = describe_current_context();
        recorder_lock_take();
        registry_note_view(*module, library, context);
        recorder_lock_give();
    }
    return result;
}

static CUresult kernel_get_function(struct call call, CUfunction *function, CUkernel kernel)
{
    CUresult result = REAL(cuKernelGetFunction)(function, kernel);
    if (result == CUDA_SUCCESS) {
        CUcontext context = describe_current_context();
        recorder_lock_take();
        registry_note_function_of(*function, kernel, context);
        recorder_lock_give();
    }
    return result;
}

static void attribute_set(void *handle, CUfunction_attribute attribute, int value, CUdevice device)
{
    recorder_lock_take();
    registry_attribute_set(handle, attribute, value, device);
    recorder_lock_give();
}

static CUresult function_set_attribute(struct call call, CUfunction function, CUfunction_attribute attribute,
                                       int value)
{
    CUresult result = REAL(cuFuncSetAttribute)(function, attribute, value);
    if (result == CUDA_SUCCESS) {
        attribute_set(function, attribute, value, -1);
    }
    return result;
}

static CUresult kernel_set_attribute(struct call call, CUfunction_attribute attribute, int value,
                                     CUkernel kernel, CUdevice device)
{
    CUresult result = REAL(cuKernelSetAttribute)(attribute, value, kernel, device);
    if (result == CUDA_SUCCESS) {
        attribute_set(kernel, attribute, value, device);
    }
    return result;
}

#define MODULE_HOOK HOOK_ENTRIES
#include "driver_api.def"
