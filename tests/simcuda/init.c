/* cuInit and the functions that work before it. */
#define SIMCUDA_EXPORTED_NAMES
#include "device.h"
#include "require.h"
#include "settings.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- settings ------------------------------------------------------------------------------------------ */

struct settings settings = {.driver_version = CUDA_VERSION};

static int number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? (int)strtol(text, NULL, 10) : otherwise;
}

static void read_once(void)
{
    const char *loading = getenv("CUDA_MODULE_LOADING");
    settings.driver_version = number_of("SIMCUDA_DRIVER_VERSION", CUDA_VERSION);
    settings.blocks_per_sm_penalty = number_of("SIMCUDA_BLOCKS_PER_SM_PENALTY", 0);
    settings.self_lookup = getenv("SIMCUDA_SELF_LOOKUP") != NULL;
    settings.eager_loading = loading && strcmp(loading, "EAGER") == 0;
}

void settings_read(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_once);
}

/* --- initialisation ------------------------------------------------------------------------------------ */

/* Some drivers find their own functions through the loader. Whoever stands in between must give them the
 * originals, and must not send their cuInit round in a circle. */
static void look_up_own_functions(void)
{
    static const struct {
        const char *name;
        void *own;
    } functions[] = {{"cuInit", (void *)cuInit},
                     {"cuLaunchKernel", (void *)cuLaunchKernel},
                     {"cuGetProcAddress", (void *)cuGetProcAddress},
                     {"cuGetProcAddress_v2", (void *)cuGetProcAddress_v2}};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *program = dlopen(NULL, RTLD_NOW);
    if (!driver || !program || !dlvsym(program, "malloc", "GLIBC_2.2.5")) {
        ledger_fault("the driver's own look-up failed: dlopen or dlvsym");
        return;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (dlsym(driver, functions[i].name) != functions[i].own) {
            ledger_fault("the driver's own look-up was redirected: %s", functions[i].name);
        }
    }
    dlclose(program);
    dlclose(driver);
}

static CUresult initialise(void)
{
    switch (atomic_load(&driver_state)) {
    case DRIVER_READY:
        return CUDA_SUCCESS;
    case DRIVER_FORKED:
        return CUDA_ERROR_NOT_INITIALIZED;
    case DRIVER_TORN_DOWN:
        ledger_fault("call after teardown: cuInit");
        return CUDA_ERROR_DEINITIALIZED;
    default:
        break;
    }
    settings_read();
    if (settings.self_lookup) {
        look_up_own_functions();
    }
    TRY(devices_init());
    driver_is_ready();
    return CUDA_SUCCESS;
}

/* A tool that the environment names. That one which cannot be opened is passed over in silence is
 * unverified. */
static void open_injected_tool(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *tool = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*initialize)(void) = tool ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;
    if (initialize) {
        initialize();
    }
}

CUresult CUDAAPI cuInit(unsigned flags)
{
    COUNT_CALL(cuInit);
    REQUIRE(flags == 0);
    pthread_mutex_lock(&init_lock);
    bool first = atomic_load(&driver_state) == DRIVER_UNINITIALIZED;
    CUresult result = initialise();
    pthread_mutex_unlock(&init_lock);
    if (first && result == CUDA_SUCCESS) {
        open_injected_tool();
    }
    return result;
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    COUNT_CALL(cuDriverGetVersion);
    REQUIRE(version);
    settings_read();
    *version = settings.driver_version;
    return CUDA_SUCCESS;
}

/* A private interface between NVIDIA's libraries, which this driver does not have. */
CUresult CUDAAPI cuGetExportTable(const void **export_table, const CUuuid *id)
{
    COUNT_CALL(cuGetExportTable);
    REQUIRE(export_table && id);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* --- errors -------------------------------------------------------------------------------------------- */

static const struct {
    CUresult result;
    const char *name;
} results[] = {
#define RESULT(name) {name, #name},
#include "results.def"
#undef RESULT
};
#define RESULTS (sizeof(results) / sizeof(results[0]))

static const char *name_of(CUresult result)
{
    for (size_t i = 0; i < RESULTS; i++) {
        if (results[i].result == result) {
            return results[i].name;
        }
    }
    return NULL;
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **name)
{
    COUNT_CALL(cuGetErrorName);
    REQUIRE(name);
    *name = name_of(error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The text is the name in plain words; a real driver has sentences. */
static char texts[RESULTS][64];

static void texts_make(void)
{
    for (size_t i = 0; i < RESULTS; i++) {
        const char *name = results[i].name + strlen("CUDA_");
        name += strncmp(name, "ERROR_", 6) == 0 ? 6 : 0;
        for (size_t n = 0; name[n] && n + 1 < sizeof(texts[i]); n++) {
            texts[i][n] = name[n] == '_' ? ' ' : (char)tolower(name[n]);
        }
    }
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
    COUNT_CALL(cuGetErrorString);
    REQUIRE(text);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, texts_make);
    for (size_t i = 0; i < RESULTS; i++) {
        if (results[i].result == error) {
            *text = texts[i];
            return CUDA_SUCCESS;
        }
    }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

/* --- profiler control: nothing to control -------------------------------------------------------------- */

CUresult CUDAAPI cuProfilerStart(void)
{
    ENTER(cuProfilerStart);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuProfilerStop(void)
{
    ENTER(cuProfilerStop);
    return CUDA_SUCCESS;
}
