/* Loading the driver, checking its answers, and code for it to load. */
#include "conformance.h"

#include <dlfcn.h>

#define EXIT_SKIPPED 77

struct driver_functions api;

static void *driver;
static int lines, failures, differences;
static bool simulated;

/* --- the driver ---------------------------------------------------------------------------------------- */

#define TEXT(name)  TEXT_(name)
#define TEXT_(name) #name

static const struct {
    const char *name;
    void **pointer;
} functions[] = {
#define FUNCTION(name) {TEXT(name), (void **)&api.name},
#include "functions.def"
#undef FUNCTION
};

void *conformance_symbol(const char *name)
{
    return dlsym(driver, name);
}

void conformance_load(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        printf("1..0 # SKIP no driver: %s\n", dlerror());
        exit(EXIT_SKIPPED);
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        *functions[i].pointer = conformance_symbol(functions[i].name);
        if (!*functions[i].pointer) {
            printf("# this driver has no %s\n", functions[i].name);
        }
    }
}

void conformance_begin(void)
{
    conformance_load();
    CUdevice device;
    CUcontext context;
    char name[256] = "";
    CUresult result = api.cuInit(0);
    if (result == CUDA_ERROR_NO_DEVICE) {
        printf("1..0 # SKIP no device\n");
        exit(EXIT_SKIPPED);
    }
    check_result(__FILE__, __LINE__, "cuInit(0)", true, result, CUDA_SUCCESS);
    SUCCEED(api.cuDeviceGet(&device, 0));
    SUCCEED(api.cuDeviceGetName(name, sizeof(name), device));
    printf("# %s\n", name);
    simulated = strstr(name, "(simulated)") != NULL;
    SUCCEED(api.cuDevicePrimaryCtxRetain(&context, device));
    SUCCEED(api.cuCtxSetCurrent(context));
}

bool conformance_is_simulated(void)
{
    return simulated;
}

int conformance_end(void)
{
    printf("1..%d\n", lines);
    if (failures || differences) {
        printf("# %d failed, %d unverified results differ\n", failures, differences);
    }
    return failures ? 1 : 0;
}

/* --- checks -------------------------------------------------------------------------------------------- */

static const char *name_of(CUresult result)
{
    const char *name = NULL;
    if (api.cuGetErrorName) {
        api.cuGetErrorName(result, &name);
    }
    return name ? name : "an unknown result";
}

void check_result(const char *file, int line, const char *what, bool documented, CUresult result,
                  CUresult expected)
{
    const char *kind = documented ? "" : " (unverified)";
    lines++;
    if (result == expected) {
        printf("ok %d - %s: %s%s\n", lines, what, name_of(result), kind);
    } else if (!documented && !simulated) {
        differences++;
        printf("ok %d - %s: %s # differs from the simulated driver's %s\n", lines, what, name_of(result),
               name_of(expected));
    } else {
        failures++;
        printf("not ok %d - %s: %s, expected %s%s # %s:%d\n", lines, what, name_of(result), name_of(expected),
               kind, file, line);
    }
    fflush(stdout);
}

void check_condition(const char *file, int line, const char *what, bool holds)
{
    lines++;
    failures += !holds;
    if (holds) {
        printf("ok %d - %s\n", lines, what);
    } else {
        printf("not ok %d - %s # %s:%d\n", lines, what, file, line);
    }
    fflush(stdout);
}

/* --- code ---------------------------------------------------------------------------------------------- */

const char kernels_ptx[] = ".version 7.0\n"
                           ".target sm_52\n"
                           ".address_size 64\n"
                           ".visible .global .align 8 .b8 counter[16];\n"
                           ".visible .entry plain() { ret; }\n"
                           ".visible .entry bounded() .maxntid 256, 1, 1 { ret; }\n"
                           ".visible .entry fixed() .reqntid 64, 2, 1 { ret; }\n"
                           ".visible .entry shared_static() {\n"
                           "  .shared .align 4 .b8 buffer[1024];\n"
                           "  .reg .b32 %r<2>;\n"
                           "  mov.u32 %r1, %tid.x;\n"
                           "  st.volatile.shared.u32 [buffer], %r1;\n"
                           "  ret; }\n"
                           ".visible .entry three(.param .u64 a, .param .u32 b, .param .u8 c) { ret; }\n";

#define LIVE_VALUES 200

/* All values are loaded before the first is stored, so each needs a register. */
char *heavy_ptx(void)
{
    char *ptx = NULL;
    size_t bytes;
    FILE *out = open_memstream(&ptx, &bytes);
    fprintf(out,
            ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry heavy(.param .u64 p) {\n"
            "  .reg .b64 %%p<2>;\n  .reg .b32 %%r<%d>;\n  ld.param.u64 %%p1, [p];\n",
            LIVE_VALUES);
    for (int i = 0; i < LIVE_VALUES; i++) {
        fprintf(out, "  ld.volatile.global.u32 %%r%d, [%%p1+%d];\n", i, 4 * i);
    }
    for (int i = 0; i < LIVE_VALUES; i++) {
        fprintf(out, "  st.volatile.global.u32 [%%p1+%d], %%r%d;\n", 4 * (LIVE_VALUES - i), i);
    }
    fprintf(out, "  ret;\n}\n");
    fclose(out);
    return ptx;
}

CUmodule load_ptx(const char *ptx)
{
    CUmodule module = NULL;
    SUCCEED(api.cuModuleLoadData(&module, ptx));
    return module;
}

CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    SUCCEED(api.cuModuleGetFunction(&function, module, name));
    return function;
}
