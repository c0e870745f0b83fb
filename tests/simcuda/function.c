/* Attributes and names of functions and kernels. */
#include "function.h"

#include "callbacks.h"
#include "capture.h"
#include "module.h"
#include "require.h"
#include "settings.h"

/* --- attributes ---------------------------------------------------------------------------------------- */

static int default_dynamic_shared(const struct kernel_code *code)
{
    int rest = SHARED_WITHOUT_OPTIN_BYTES - (int)code->info.static_shared_bytes;
    return rest > 0 ? rest : 0;
}

static int code_attribute(const struct kernel_code *code, CUfunction_attribute attribute)
{
    const struct cubin_kernel *info = &code->info;
    bool cluster = (info->valid & CUBIN_HAS_CLUSTER) != 0;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return code->bound_threads < code->register_threads ? code->bound_threads : code->register_threads;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return (int)info->static_shared_bytes;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        return (int)code->constant_bytes;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return (int)info->stack_bytes;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return (int)info->registers_per_thread;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        return code->ptx_version;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return code->binary_version;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return default_dynamic_shared(code);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return CU_SHAREDMEM_CARVEOUT_DEFAULT;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        return cluster;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        return cluster ? (int)info->cluster[0] : 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        return cluster ? (int)info->cluster[1] : 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return cluster ? (int)info->cluster[2] : 0;
    default:
        return 0;
    }
}

static bool is_set(const struct function_settings *given, CUfunction_attribute attribute)
{
    return atomic_load_explicit(&given->set, memory_order_acquire) >> attribute & 1;
}

static int setting(const struct function_settings *given, CUfunction_attribute attribute)
{
    return atomic_load_explicit(&given->value[attribute], memory_order_relaxed);
}

/* What cuFuncSetAttribute set wins over what cuKernelSetAttribute set. */
int function_attribute(const struct CUfunc_st *function, CUfunction_attribute attribute)
{
    if (is_set(&function->settings, attribute)) {
        return setting(&function->settings, attribute);
    }
    const struct CUkern_st *kernel = function->kernel;
    const struct function_settings *given =
        kernel ? &kernel->settings[function->context->device->ordinal] : &function->settings;
    return is_set(given, attribute) ? setting(given, attribute) : code_attribute(function->code, attribute);
}

static CUresult check_setting(const struct kernel_code *code, const struct device *device,
                              CUfunction_attribute attribute, int value)
{
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        REQUIRE(value >= 0 &&
                value + (int)code->info.static_shared_bytes <= device->sm->shared_optin_kib * 1024);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        REQUIRE(value >= CU_SHAREDMEM_CARVEOUT_DEFAULT && value <= CU_SHAREDMEM_CARVEOUT_MAX_SHARED);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        REQUIRE(value >= 0);
        return code->info.valid & CUBIN_HAS_CLUSTER ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        REQUIRE(value >= 0);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult change(struct function_settings *given, const struct kernel_code *code,
                       const struct device *device, CUfunction_attribute attribute, int value)
{
    TRY(check_setting(code, device, attribute, value));
    atomic_store_explicit(&given->value[attribute], value, memory_order_relaxed);
    atomic_fetch_or_explicit(&given->set, 1u << attribute, memory_order_release);
    return CUDA_SUCCESS;
}

static _Atomic(driver_query_listener *) query_listener;

void simcuda_set_query_listener(driver_query_listener *told)
{
    atomic_store(&query_listener, told);
}

/* A lazily loading driver would have to load the code now, and to wait for the GPU; a capture would be
 * broken. */
static void note_query(const char *name, bool launched, enum call call)
{
    if (!settings.eager_loading && !launched) {
        ledger_fault("query before first launch: %s %s", call_name(call), name);
    }
    if (capture_is_under_way()) {
        ledger_fault("query while capturing: %s %s", call_name(call), name);
    }
    driver_query_listener *told = atomic_load(&query_listener);
    if (told) {
        told();
    }
}

void function_note_query(const struct CUfunc_st *function, enum call call)
{
    note_query(function->code->name, atomic_load_explicit(&function->launched, memory_order_relaxed), call);
}

void function_note_launch(struct CUfunc_st *function)
{
    if (!atomic_load_explicit(&function->launched, memory_order_relaxed)) {
        atomic_store(&function->launched, true);
        if (function->kernel) {
            atomic_store(&function->kernel->launched, true);
        }
    }
}

/* --- exported: CUfunction ------------------------------------------------------------------------------ */

/* All of these take a CUkernel cast to CUfunction too, and then mean the function of the current context. */
#define ENTER_FUNCTION(symbol, handle, function)                                                             \
    ENTER_IN_CONTEXT(symbol, context);                                                                       \
    struct CUfunc_st *function;                                                                              \
    TRY(launch_resolve(handle, context, CALL_##symbol, &function))

CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    ENTER_FUNCTION(cuFuncGetAttribute, handle, function);
    REQUIRE(value && (unsigned)attribute < CU_FUNC_ATTRIBUTE_MAX);
    function_note_query(function, CALL_cuFuncGetAttribute);
    *value = function_attribute(function, attribute);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    ENTER_FUNCTION(cuFuncSetAttribute, handle, function);
    REQUIRE((unsigned)attribute < CU_FUNC_ATTRIBUTE_MAX);
    return change(&function->settings, function->code, context->device, attribute, value);
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    ENTER_FUNCTION(cuFuncSetCacheConfig, handle, function);
    (void)function;
    REQUIRE(config <= CU_FUNC_CACHE_PREFER_EQUAL);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config)
{
    ENTER_FUNCTION(cuFuncSetSharedMemConfig, handle, function);
    (void)function;
    REQUIRE(config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    ENTER_FUNCTION(cuFuncGetModule, handle, function);
    REQUIRE(module);
    *module = function->module;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction handle)
{
    ENTER_FUNCTION(cuFuncGetName, handle, function);
    REQUIRE(name);
    *name = function->code->name;
    return CUDA_SUCCESS;
}

static CUresult parameter_info(const struct kernel_code *code, size_t index, size_t *offset, size_t *bytes)
{
    REQUIRE(offset && index < code->info.parameters_count);
    *offset = code->info.parameters[index].offset;
    if (bytes) {
        *bytes = code->info.parameters[index].bytes;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    ENTER_FUNCTION(cuFuncGetParamInfo, handle, function);
    return parameter_info(function->code, index, offset, bytes);
}

CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    ENTER_FUNCTION(cuFuncIsLoaded, handle, function);
    REQUIRE(state);
    bool loaded = settings.eager_loading || atomic_load(&function->launched);
    *state = loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncLoad(CUfunction handle)
{
    ENTER_FUNCTION(cuFuncLoad, handle, function);
    atomic_store(&function->launched, true);
    return CUDA_SUCCESS;
}

/* --- exported: CUkernel -------------------------------------------------------------------------------- */

CUresult CUDAAPI cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    ENTER_IN_CONTEXT(cuKernelGetFunction, context);
    REQUIRE(function);
    REQUIRE_HANDLE(kernel, OBJECT_KERNEL, cuKernelGetFunction);
    return kernel_function(kernel, context->root, function);
}

CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    ENTER(cuKernelGetLibrary);
    REQUIRE(library);
    REQUIRE_HANDLE(kernel, OBJECT_KERNEL, cuKernelGetLibrary);
    *library = kernel->library;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel kernel)
{
    ENTER(cuKernelGetName);
    REQUIRE(name);
    REQUIRE_HANDLE(kernel, OBJECT_KERNEL, cuKernelGetName);
    *name = kernel->code->name;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    ENTER(cuKernelGetParamInfo);
    REQUIRE_HANDLE(kernel, OBJECT_KERNEL, cuKernelGetParamInfo);
    return parameter_info(kernel->code, index, offset, bytes);
}

CUresult CUDAAPI cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                                      CUdevice ordinal)
{
    ENTER(cuKernelGetAttribute);
    REQUIRE(value && (unsigned)attribute < CU_FUNC_ATTRIBUTE_MAX);
    REQUIRE_HANDLE(kernel, OBJECT_KERNEL, cuKernelGetAttribute);
    REQUIRE_DEVICE(device, ordinal);
    const struct function_settings *given = &kernel->settings[device->ordinal];
    if (is_set(given, attribute)) {
        *value = setting(given, attribute);
        return CUDA_SUCCESS;
    }
    const struct kernel_code *code;
    TRY(kernel_code_on(kernel, device, &code));
    note_query(code->name, atomic_load(&kernel->launched), CALL_cuKernelGetAttribute);
    *value = code_attribute(code, attribute);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                      CUdevice ordinal)
{
    ENTER(cuKernelSetAttribute);
    REQUIRE((unsigned)attribute < CU_FUNC_ATTRIBUTE_MAX);
    REQUIRE_HANDLE(kernel, OBJECT_KERNEL, cuKernelSetAttribute);
    REQUIRE_DEVICE(device, ordinal);
    const struct kernel_code *code;
    TRY(kernel_code_on(kernel, device, &code));
    return change(&kernel->settings[device->ordinal], code, device, attribute, value);
}

CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice ordinal)
{
    ENTER(cuKernelSetCacheConfig);
    REQUIRE(config <= CU_FUNC_CACHE_PREFER_EQUAL);
    REQUIRE_HANDLE(kernel, OBJECT_KERNEL, cuKernelSetCacheConfig);
    REQUIRE_DEVICE(device, ordinal);
    (void)device;
    return CUDA_SUCCESS;
}
