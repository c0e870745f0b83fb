/* How a program gets at driver functions, and what it gets. Not linked against libcuda. */
#include "client.h"

typedef CUresult get_v1(const char *, void **, int, cuuint64_t);
typedef CUresult get_v2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
typedef CUresult launch_kernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, CUstream, void **, void **);

static void *driver(void)
{
    static void *library;
    library = library ? library : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return library;
}

#define DRIVER(name) ((__typeof__(&name))dlsym(driver(), #name))

static CUdeviceptr memory;
static CUcontext context;

static CUfunction function(const char *name)
{
    CUdevice device;
    CUmodule module;
    CUfunction found;
    CHECK(DRIVER(cuInit)(0));
    CHECK(DRIVER(cuDeviceGet)(&device, 0));
    CHECK(DRIVER(cuCtxCreate_v2)(&context, 0, device));
    CHECK(DRIVER(cuMemAlloc_v2)(&memory, 1 << 20));
    CHECK(DRIVER(cuModuleLoad)(&module, client_image()));
    CHECK(DRIVER(cuModuleGetFunction)(&found, module, name));
    return found;
}

static void launch(launch_kernel *kernel, CUfunction scale, unsigned grid)
{
    float factor = 2;
    void *values[] = {&memory, &factor};
    CHECK(kernel(scale, grid, 1, 1, 128, 1, 1, 0, NULL, values, NULL));
}

static void empty_name(void)
{
    void *pointer = (void *)1;
    CUresult result = DRIVER(cuGetProcAddress_v2)("", &pointer, 0, 0, NULL);
    printf("result %d pointer %p\n", (int)result, pointer);
}

static void *by_v2(const char *name, int version, cuuint64_t flags)
{
    void *pointer = NULL;
    CUdriverProcAddressQueryResult status = 99;
    CUresult result = DRIVER(cuGetProcAddress_v2)(name, &pointer, version, flags, &status);
    printf("%s %d %llu: result %d status %d in %s\n", name, version, (unsigned long long)flags, (int)result,
           (int)status, library_of(pointer));
    return pointer;
}

static void itself(void)
{
    get_v1 *older = (get_v1 *)by_v2("cuGetProcAddress", 11030, 0);
    get_v2 *newer = (get_v2 *)by_v2("cuGetProcAddress", 12000, 0);
    void *pointer = NULL;
    CUdriverProcAddressQueryResult status = 99;
    CUresult result = older("cuLaunchKernel", &pointer, 11080, 0);
    printf("older: result %d in %s\n", (int)result, library_of(pointer));
    result = newer("cuLaunchKernel", &pointer, 12000, 0, &status);
    printf("newer: result %d status %d in %s, %s\n", (int)result, (int)status, library_of(pointer),
           (void *)older == (void *)newer ? "one function" : "two functions");
}

static void per_thread(void)
{
    CUfunction scale = function("scale");
    launch((launch_kernel *)by_v2("cuLaunchKernel", 7000, 2), scale, 3);
    launch((launch_kernel *)by_v2("cuLaunchKernel", 4000, 0), scale, 4);
}

static void missing(void)
{
    void *sentinel = (void *)0x1234, *pointer = sentinel;
    CUresult result = DRIVER(cuGetProcAddress)("cuNoSuchFunction", &pointer, 12000, 0);
    printf("v1: result %d pointer %p\n", (int)result, pointer);
    static const struct {
        const char *name;
        int version;
    } asked[] = {{"cuNoSuchFunction", 12000},
                 {"cuLaunchKernel", 1},
                 {"cuLaunchKernel_ptsz", 12000},
                 {"cuGetProcAddress_v2", 12000}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        CUdriverProcAddressQueryResult status = 99;
        pointer = sentinel;
        result = DRIVER(cuGetProcAddress_v2)(asked[i].name, &pointer, asked[i].version, 0, &status);
        printf("v2 %s: result %d pointer %p status %d\n", asked[i].name, (int)result, pointer, (int)status);
    }
    result = DRIVER(cuGetProcAddress_v2)(NULL, &pointer, 12000, 0, NULL);
    printf("v2 no name: result %d\n", (int)result);
    result = DRIVER(cuGetProcAddress_v2)("cuLaunchKernel", NULL, 12000, 0, NULL);
    printf("v2 no place: result %d\n", (int)result);
}

static void future(void)
{
    launch((launch_kernel *)by_v2("cuLaunchKernel", 99000, 0), function("scale"), 5);
}

/* One launch through each door that needs no linking, each with a grid of its own. */
static void doors(void)
{
    launch_kernel *early = DRIVER(cuLaunchKernel);
    CUfunction scale = function("scale");
    void *pointer = NULL;
    launch(early, scale, 1);
    launch(DRIVER(cuLaunchKernel), scale, 2);
    CHECK(DRIVER(cuGetProcAddress)("cuLaunchKernel", &pointer, 11080, 0));
    launch((launch_kernel *)pointer, scale, 3);
    pointer = dlsym(driver(), "cuGetProcAddress_v2"); /* drivers before 12.0 have none */
    launch((launch_kernel *)(pointer ? by_v2("cuLaunchKernel", 11080, 0) : dlsym(driver(), "cuLaunchKernel")),
           scale, 4);
    launch((launch_kernel *)dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), "cuLaunchKernel"), scale,
           5);
    launch(early, scale, 6);
}

/* On a driver whose symbols have versions; the real one's have none, so dlvsym finds nothing in it. */
static void versioned(void)
{
    launch_kernel *kernel = (launch_kernel *)dlvsym(driver(), "cuLaunchKernel", "DRIVER_1");
    printf("DRIVER_1 in %s, DRIVER_2 in %s\n", library_of((void *)kernel),
           library_of(dlvsym(driver(), "cuLaunchKernel", "DRIVER_2")));
    CHECK(kernel((CUfunction)0x1000, 3, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL));
}

static void own_address(void)
{
    void *library = dlopen("libcudnn.so.9", RTLD_NOW);
    int (*create)(void) = (int (*)(void))dlsym(library, "cudnnCreate");
    printf("cudnnCreate in %s says %d\n", library_of((void *)create), create());
}

/* A library that is no driver but has a function of that name. */
static void stranger(void)
{
    void *library = dlopen("libstranger.so", RTLD_NOW);
    int (*function_of_its_own)(void) = (int (*)(void))dlsym(library, "cuLaunchKernel");
    printf("cuLaunchKernel in %s says %d\n", library_of((void *)function_of_its_own), function_of_its_own());
}

static void without_cuda(void)
{
    static const char *const names[] = {"cuInit", "cuLaunchKernel", "cuGetProcAddress_v2",
                                        "cudaLaunchKernel"};
    void *program = dlopen(NULL, RTLD_NOW);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        dlerror();
        void *by_default = dlsym(RTLD_DEFAULT, names[i]);
        const char *error = dlerror();
        printf("%s: %p %s, %p\n", names[i], by_default, error ? "with an error" : "without",
               dlsym(program, names[i]));
    }
    printf("malloc in %s\n", library_of(dlsym(RTLD_DEFAULT, "malloc")));
}

static void run_path(void)
{
    void *library = dlopen("libby_run_path.so", RTLD_NOW);
    int (*open_neighbour)(void) = library ? (int (*)(void))dlsym(library, "open_neighbour") : NULL;
    printf("%d\n", open_neighbour ? open_neighbour() : -1);
}

static void wrapped_malloc(void)
{
    void *library = dlopen("libnext_malloc.so", RTLD_NOW);
    int (*same)(int) = (int (*)(int))dlsym(library, "same_next_malloc");
    printf("%d of 1000\n", same(1000));
}

/* libcuda by its own scope, and in a namespace of its own. */
static void launch_in(void *library)
{
    CUdevice device;
    CUmodule module;
    CUfunction scale;
    CHECK(((__typeof__(&cuInit))dlsym(library, "cuInit"))(0));
    CHECK(((__typeof__(&cuDeviceGet))dlsym(library, "cuDeviceGet"))(&device, 0));
    CHECK(((__typeof__(&cuCtxCreate_v2))dlsym(library, "cuCtxCreate_v2"))(&context, 0, device));
    CHECK(((__typeof__(&cuMemAlloc_v2))dlsym(library, "cuMemAlloc_v2"))(&memory, 1 << 20));
    CHECK(((__typeof__(&cuModuleLoad))dlsym(library, "cuModuleLoad"))(&module, client_image()));
    CHECK(((__typeof__(&cuModuleGetFunction))dlsym(library, "cuModuleGetFunction"))(&scale, module, "scale"));
    launch((launch_kernel *)dlsym(library, "cuLaunchKernel"), scale, 7);
    printf("launched\n");
}

static void deep_bind(void)
{
    void *library = dlopen("libdeep.so", RTLD_NOW | RTLD_DEEPBIND);
    void (*run)(void) = library ? (void (*)(void))dlsym(library, "deep_launch") : NULL;
    if (run == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    run();
}

static void own_namespace(void)
{
    void *library = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    launch_in(library);
}

/* Every launch of a kind that the driver refuses, and one that it takes. */
static void refused(void)
{
    CUfunction scale = function("scale");
    launch_kernel *kernel = DRIVER(cuLaunchKernel);
    float factor = 2;
    void *values[] = {&memory, &factor};
    printf("%d\n", (int)kernel(scale, 0, 1, 1, 128, 1, 1, 0, NULL, values, NULL));
    printf("%d\n", (int)kernel(scale, 1, 1, 1, 2048, 1, 1, 0, NULL, values, NULL));
    printf("%d\n", (int)kernel(scale, 1, 1, 1, 128, 1, 1, 1 << 20, NULL, values, NULL));
    printf("%d\n", (int)kernel(NULL, 1, 1, 1, 128, 1, 1, 0, NULL, values, NULL));
    if (getenv("ALSO_LAUNCH")) {
        launch(kernel, scale, 8);
    }
}

/* Once the driver is torn down, everything answers with an error; whoever still asks is noted in the ledger.
 */
static void leave_context(void)
{
    launch(DRIVER(cuLaunchKernel), function("scale"), 9);
    CHECK(DRIVER(cuCtxDestroy_v2)(context));
}

static const struct scenario scenarios[] = {
    {"empty_name", empty_name}, {"itself", itself},
    {"per_thread", per_thread}, {"missing", missing},
    {"future", future},         {"doors", doors},
    {"versioned", versioned},   {"own_address", own_address},
    {"stranger", stranger},     {"without_cuda", without_cuda},
    {"run_path", run_path},     {"wrapped_malloc", wrapped_malloc},
    {"deep_bind", deep_bind},   {"own_namespace", own_namespace},
    {"refused", refused},       {"leave_context", leave_context},
};

int main(int arguments, char **argument)
{
    return RUN_SCENARIO(scenarios, arguments, argument);
}
