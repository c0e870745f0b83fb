/* Modules and libraries from cubin, fat binary and PTX; functions and kernels; what is in them. */
#include "conformance.h"

static CUdevice device;
static int capability;

static const char *code_path(const char *name)
{
    static char path[4096];
    const char *directory = getenv("CONFORMANCE_CODE");
    snprintf(path, sizeof(path), "%s/%s", directory ? directory : ".", name);
    return path;
}

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -1;
    SUCCEED(api.cuFuncGetAttribute(&value, which, function));
    return value;
}

/* --- loading ------------------------------------------------------------------------------------------- */

static void contents(CUmodule module)
{
    CUfunction scale = function_of(module, "scale"), again = function_of(module, "scale"), missing;
    CUfunction all[3] = {NULL};
    unsigned count = 0;
    CHECK(scale == again);
    EXPECT(CUDA_ERROR_NOT_FOUND, api.cuModuleGetFunction(&missing, module, "scal"));
    EXPECT(CUDA_ERROR_NOT_FOUND, api.cuModuleGetFunction(&missing, module, "counter"));
    SUCCEED(api.cuModuleGetFunction(&missing, module, "_Z4fillIdEvPT_S0_"));
    SUCCEED(api.cuModuleGetFunctionCount(&count, module));
    CHECK(count == 3);
    SUCCEED(api.cuModuleEnumerateFunctions(all, 3, module));
    CHECK(all[0] == scale || all[1] == scale || all[2] == scale);
    CUdeviceptr address = 0;
    size_t bytes = 0;
    SUCCEED(api.cuModuleGetGlobal(&address, &bytes, module, "counter"));
    CHECK(address && bytes == 16);
    SUCCEED(api.cuModuleGetGlobal(NULL, &bytes, module, "table"));
    CHECK(bytes == 32);
    SUCCEED(api.cuMemsetD32(address, 3, 4));
    EXPECT(CUDA_ERROR_NOT_FOUND, api.cuModuleGetGlobal(&address, &bytes, module, "scale"));
    CUmodule of_function = NULL;
    const char *name = NULL;
    SUCCEED(api.cuFuncGetModule(&of_function, scale));
    CHECK(of_function == module);
    SUCCEED(api.cuFuncGetName(&name, scale));
    CHECK(name && strcmp(name, "scale") == 0);
}

static void from_files(void)
{
    char cubin[64];
    snprintf(cubin, sizeof(cubin), "code.sm_%d.cubin", capability);
    const char *const names[] = {cubin, "code.fatbin", "code.ptx"};
    for (int i = 0; i < 3; i++) {
        CUmodule module;
        printf("# %s\n", names[i]);
        if (i == 0 && access(code_path(cubin), R_OK) != 0) {
            printf("# no cubin for this device\n");
            continue;
        }
        SUCCEED(api.cuModuleLoad(&module, code_path(names[i])));
        contents(module);
        SUCCEED(api.cuModuleUnload(module));
    }
}

static void bad_code(void)
{
    CUmodule module;
    static const char not_code[64] = "\x01\x02\x03\x04";
    EXPECT(CUDA_ERROR_FILE_NOT_FOUND, api.cuModuleLoad(&module, "/nonexistent/code.cubin"));
    EXPECT(CUDA_ERROR_INVALID_IMAGE, api.cuModuleLoadData(&module, not_code));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuModuleLoadData(&module, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuModuleLoadData(NULL, kernels_ptx));
    EXPECT(CUDA_ERROR_INVALID_PTX, api.cuModuleLoadData(&module, ".version 7.0\n.target sm_52\nnonsense"));
    EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU,
           api.cuModuleLoad(&module, code_path(capability == 90 ? "code.sm_75.cubin" : "code.sm_90.cubin")));
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    EXPECT(CUDA_ERROR_INVALID_PTX,
           api.cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_52\nnonsense", 2, options, values));
    CHECK(strlen(log) > 0);
}

/* Handles come again: a function of one module may have the address of one that is gone. */
static void reload(void)
{
    for (int i = 0; i < 3; i++) {
        CUmodule module = load_ptx(kernels_ptx);
        CUfunction plain = function_of(module, "plain");
        SUCCEED(api.cuLaunchKernel(plain, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        SUCCEED(api.cuCtxSynchronize());
        SUCCEED(api.cuModuleUnload(module));
    }
}

/* --- functions ----------------------------------------------------------------------------------------- */

static void function_attributes(void)
{
    CUmodule module = load_ptx(kernels_ptx);
    CUfunction plain = function_of(module, "plain"), bounded = function_of(module, "bounded");
    CUfunction with_static = function_of(module, "shared_static"), three = function_of(module, "three");
    CHECK(attribute(plain, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 1024);
    CHECK(attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 256);
    CHECK(attribute(plain, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 0);
    CHECK(attribute(with_static, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 1024);
    CHECK(attribute(plain, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) == 0);
    CHECK(attribute(plain, CU_FUNC_ATTRIBUTE_NUM_REGS) > 0);
    CHECK(attribute(plain, CU_FUNC_ATTRIBUTE_BINARY_VERSION) == capability);
    CHECK(attribute(plain, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) == -1);
    SUCCEED(api.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    CHECK(attribute(plain, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) == 50);
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           api.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_NUM_REGS, 4));
    int value;
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, plain));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, api.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL));
    size_t offset = 99, bytes = 99;
    SUCCEED(api.cuFuncGetParamInfo(three, 1, &offset, &bytes));
    CHECK(offset == 8 && bytes == 4);
    SUCCEED(api.cuFuncGetParamInfo(three, 2, &offset, NULL));
    CHECK(offset == 12);
    EXPECT(CUDA_ERROR_INVALID_VALUE, api.cuFuncGetParamInfo(three, 3, &offset, &bytes));
    SUCCEED(api.cuModuleUnload(module));
}

/* --- libraries ----------------------------------------------------------------------------------------- */

static void kernel_launches(CUkernel kernel)
{
    CUfunction function;
    SUCCEED(api.cuLaunchKernel((CUfunction)kernel, 3, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    SUCCEED(api.cuKernelGetFunction(&function, kernel));
    SUCCEED(api.cuLaunchKernel(function, 3, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CUlaunchConfig config = {3, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
    SUCCEED(api.cuLaunchKernelEx(&config, (CUfunction)kernel, NULL, NULL));
    int blocks = 0;
    SUCCEED(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (CUfunction)kernel, 128, 0));
    CHECK(blocks > 0);
    SUCCEED(api.cuCtxSynchronize());
}

static void library(void)
{
    CUlibrary loaded, of_kernel;
    CUkernel kernel, missing, all[8] = {NULL};
    CUmodule module;
    unsigned count = 0;
    SUCCEED(api.cuLibraryLoadData(&loaded, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
    SUCCEED(api.cuLibraryGetKernel(&kernel, loaded, "plain"));
    EXPECT(CUDA_ERROR_NOT_FOUND, api.cuLibraryGetKernel(&missing, loaded, "plan"));
    SUCCEED(api.cuLibraryGetKernelCount(&count, loaded));
    CHECK(count == 5);
    SUCCEED(api.cuLibraryEnumerateKernels(all, 8, loaded));
    CHECK(all[4] != NULL && all[5] == NULL);
    SUCCEED(api.cuKernelGetLibrary(&of_kernel, kernel));
    CHECK(of_kernel == loaded);
    const char *name = NULL;
    SUCCEED(api.cuKernelGetName(&name, kernel));
    CHECK(name && strcmp(name, "plain") == 0);
    SUCCEED(api.cuLibraryGetModule(&module, loaded));
    kernel_launches(kernel);
    int value = 0;
    CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    SUCCEED(api.cuKernelSetAttribute(dynamic, 60000, kernel, device));
    SUCCEED(api.cuKernelGetAttribute(&value, dynamic, kernel, device));
    CHECK(value == 60000);
    SUCCEED(api.cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 60000, NULL, NULL, NULL));
    CUdeviceptr address;
    size_t bytes = 0;
    SUCCEED(api.cuLibraryGetGlobal(&address, &bytes, loaded, "counter"));
    CHECK(bytes == 16);
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuLibraryUnload(loaded));
}

/* --- linking ------------------------------------------------------------------------------------------- */

static void linking(void)
{
    static char caller[] = ".version 7.0\n.target sm_52\n.address_size 64\n.extern .func helper();\n"
                           ".visible .entry linked() { call helper; ret; }\n";
    static char callee[] =
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .func helper() { ret; }\n";
    CUlinkState state;
    void *cubin;
    size_t bytes;
    CUmodule module;
    SUCCEED(api.cuLinkCreate(0, NULL, NULL, &state));
    SUCCEED(api.cuLinkAddData(state, CU_JIT_INPUT_PTX, caller, sizeof(caller), "caller", 0, NULL, NULL));
    SUCCEED(api.cuLinkAddData(state, CU_JIT_INPUT_PTX, callee, sizeof(callee), "callee", 0, NULL, NULL));
    SUCCEED(api.cuLinkComplete(state, &cubin, &bytes));
    SUCCEED(api.cuModuleLoadData(&module, cubin));
    SUCCEED(api.cuLinkDestroy(state));
    CUfunction linked = function_of(module, "linked");
    SUCCEED(api.cuLaunchKernel(linked, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SUCCEED(api.cuCtxSynchronize());
    SUCCEED(api.cuModuleUnload(module));
}

int main(void)
{
    conformance_begin();
    int major, minor;
    SUCCEED(api.cuDeviceGet(&device, 0));
    SUCCEED(api.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    SUCCEED(api.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    capability = major * 10 + minor;
    from_files();
    bad_code();
    reload();
    function_attributes();
    library();
    linking();
    return conformance_end();
}
