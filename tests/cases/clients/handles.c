/* Handles of kernels: where they come from, when they end, and what else they may be. Linked against libcuda.
 * Launches are told apart by their grids. */
#include "client.h"

static CUdeviceptr memory;
static CUdevice device;
static float factor = 2;
static void *values[] = {&memory, &factor};

static CUcontext open_context(int ordinal)
{
    CUcontext context;
    CHECK(cuDeviceGet(&device, ordinal));
    CHECK(cuCtxCreate_v2(&context, 0, device));
    CHECK(cuMemAlloc_v2(&memory, 1 << 20));
    return context;
}

static CUfunction load(CUmodule *module, const char *name)
{
    CUfunction function;
    CHECK(cuModuleLoad(module, client_image()));
    CHECK(cuModuleGetFunction(&function, *module, name));
    return function;
}

static void launch_shared(void *function, unsigned grid, unsigned shared_bytes)
{
    CHECK(cuLaunchKernel((CUfunction)function, grid, 1, 1, 64, 1, 1, shared_bytes, NULL, values, NULL));
}

static void launch(void *function, unsigned grid)
{
    launch_shared(function, grid, 0);
}

static void *file_bytes(const char *path)
{
    FILE *file = fopen(path, "rb");
    static char bytes[1 << 20];
    size_t count = file ? fread(bytes, 1, sizeof bytes - 1, file) : 0;
    bytes[count] = '\0';
    if (file) {
        fclose(file);
    }
    return bytes;
}

/* Load, launch, unload, with another function each time: sooner or later a handle is used again. */
static void reload(void)
{
    static const char *const names[] = {"scale", "offset"};
    void *seen[64] = {NULL};
    int again = 0;
    open_context(0);
    for (unsigned i = 0; i < 64; i++) {
        CUmodule module;
        void *function = load(&module, names[i % 2]);
        for (unsigned j = 0; j < i; j++) {
            again += seen[j] == function && j % 2 != i % 2;
        }
        seen[i] = function;
        launch_shared(function, i % 2 + 1, i % 2 ? 256 : 0);
        launch_shared(function, i % 2 + 1, i % 2 ? 256 : 0);
        CHECK(cuModuleUnload(module));
    }
    printf("%s\n", again ? "a handle was used again for the other kernel" : "never used again");
}

/* A kernel without a device, launched on each. */
static void kernel(void)
{
    CUlibrary library;
    CUkernel scale;
    CUcontext first = open_context(0);
    CHECK(cuLibraryLoadData(&library, file_bytes(client_image()), NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&scale, library, "scale"));
    launch(scale, 1);
    launch(scale, 1);
    int devices;
    CHECK(cuDeviceGetCount(&devices));
    if (devices > 1) {
        open_context(1);
        launch(scale, 1);
        launch(scale, 2);
        CHECK(cuCtxSetCurrent(first));
        launch(scale, 1);
        launch(scale, 2);
    }
    CHECK(cuLibraryUnload(library));
}

/* The same kernel as a function of a context, by enumeration, and of the library's module. */
static void forms_of_kernel(void)
{
    CUlibrary library;
    CUkernel kernels[2];
    CUfunction function;
    CUmodule module;
    open_context(0);
    CHECK(cuLibraryLoadFromFile(&library, client_image(), NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryEnumerateKernels(kernels, 2, library));
    launch_shared(kernels[0], 1, 256);
    launch_shared(kernels[1], 2, 256);
    CHECK(cuKernelGetFunction(&function, kernels[0]));
    launch_shared(function, 3, 256);
    CHECK(cuLibraryGetModule(&module, library));
    CHECK(cuModuleGetFunction(&function, module, "scale"));
    launch(function, 4);
    CHECK(cuLibraryUnload(library));
    CHECK(cuLibraryLoadFromFile(&library, client_image(), NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernels[0], library, "scale"));
    launch(kernels[0], 5);
}

/* Only functions, never a kernel: whoever asks a cuKernel* question here asks it of the wrong thing. */
static void function_only(void)
{
    CUmodule module;
    open_context(0);
    void *scale = load(&module, "scale");
    launch(scale, 1);
    launch(scale, 2);
}

static void attributes(void)
{
    CUmodule module;
    open_context(0);
    CUfunction offset = load(&module, "offset");
    launch_shared(offset, 1, 1024);
    launch_shared(offset, 1, 1024);
    CHECK(cuFuncSetAttribute(offset, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100));
    launch_shared(offset, 1, 1024);
    CHECK(cuFuncSetAttribute(offset, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60 * 1024));
    launch_shared(offset, 1, 1024);
    launch_shared(offset, 2, 60 * 1024);
    CHECK(cuFuncSetAttribute(offset, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1));
    CHECK(cuFuncSetAttribute(offset, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48 * 1024));
    launch_shared(offset, 1, 1024);
}

/* The driver's own answer beside each launch: what fits depends on the carve-out. */
static void carveouts(void)
{
    CUmodule module;
    open_context(0);
    CUfunction offset = load(&module, "offset");
    for (int percent = 0; percent <= 100; percent += 20) {
        int blocks;
        CHECK(cuFuncSetAttribute(offset, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent));
        launch_shared(offset, 1, 8192);
        CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, offset, 64, 8192));
        printf("%d %d\n", percent, blocks);
    }
}

/* The same code in two contexts of one device; then contexts that come and go. */
static void contexts(void)
{
    CUmodule module;
    CUcontext first = open_context(0);
    void *one = load(&module, "scale");
    launch(one, 1);
    CUcontext second = open_context(0);
    void *two = load(&module, "offset");
    launch_shared(two, 2, 256);
    CHECK(cuCtxSetCurrent(first));
    launch(one, 3);
    CHECK(cuCtxDestroy_v2(second));
    CHECK(cuCtxDestroy_v2(first));
    for (unsigned i = 0; i < 8; i++) {
        CUcontext context = open_context(0);
        void *function = load(&module, i % 2 ? "offset" : "scale");
        launch_shared(function, 4, i % 2 ? 256 : 0);
        CHECK(cuCtxDestroy_v2(context));
    }
    CHECK(cuDevicePrimaryCtxRetain(&first, device));
    CHECK(cuCtxSetCurrent(first));
    CHECK(cuMemAlloc_v2(&memory, 1 << 20));
    launch(load(&module, "scale"), 5);
    CHECK(cuDevicePrimaryCtxReset(device));
}

static const struct scenario scenarios[] = {
    {"reload", reload},
    {"kernel", kernel},
    {"forms_of_kernel", forms_of_kernel},
    {"function_only", function_only},
    {"attributes", attributes},
    {"carveouts", carveouts},
    {"contexts", contexts},
};

int main(int arguments, char **argument)
{
    CHECK(cuInit(0));
    return RUN_SCENARIO(scenarios, arguments, argument);
}
