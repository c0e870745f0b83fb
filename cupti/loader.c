/* The search for libcupti. One process may hold only one copy, so a mapped one always wins. */
#include "cupti/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mapped {
    char cupti[4096];
    char cudart_directory[4096];
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void copy_directory(char *directory, size_t size, const char *path)
{
    snprintf(directory, size, "%.*s", (int)(base_name(path) - path), path);
}

static int note_mapped(struct dl_phdr_info *info, size_t size, void *context)
{
    struct mapped *mapped = context;
    const char *name = base_name(info->dlpi_name);
    (void)size;
    if (strncmp(name, "libcupti.so", 11) == 0) {
        snprintf(mapped->cupti, sizeof mapped->cupti, "%s", info->dlpi_name);
    } else if (strncmp(name, "libcudart.so", 12) == 0) {
        copy_directory(mapped->cudart_directory, sizeof mapped->cudart_directory, info->dlpi_name);
    }
    return 0;
}

static void open_beside(const struct cupti_loader_services *services, const char *path)
{
    char host[4096 + 32];
    const char *slash = strrchr(path, '/');
    if (slash) {
        snprintf(host, sizeof host, "%.*s/libnvperf_host.so", (int)(slash - path), path);
        services->library_open(host, RTLD_NOW | RTLD_LOCAL);
    }
}

static void find_functions(const struct cupti_loader_services *services, void *library, struct cupti_api *api)
{
    unsigned missing = 0;
    api->parts = CUPTI_PART_BASE | CUPTI_PART_TIMING | CUPTI_PART_COUNTERS | CUPTI_PART_INJECTION;
#define CUPTI_FUNCTION(name, part)                                                                           \
    api->name = (__typeof__(&name))services->library_symbol(library, #name);                                 \
    missing |= api->name ? 0u : (unsigned)(part);
#include "cupti/api.def"
#undef CUPTI_FUNCTION
    api->parts &= ~missing;
}

static bool try_path(const struct cupti_loader_services *services, struct cupti_api *api, const char *path)
{
    snprintf(api->path, sizeof api->path, "%s", path);
    if (strchr(path, '/')) {
        if (access(path, R_OK) != 0) {
            return false;
        }
        open_beside(services, path);
    }
    void *library = services->library_open(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return false;
    }
    struct link_map *map = NULL; /* a handle of the GNU loader is its link map */
    map = library;
    if (map->l_name && map->l_name[0]) {
        snprintf(api->path, sizeof api->path, "%s", map->l_name);
        open_beside(services, api->path);
    }
    find_functions(services, library, api);
    return (api->parts & CUPTI_PART_BASE) && api->cuptiGetVersion(&api->version) == CUPTI_SUCCESS;
}

/* Where one major version may lie, most particular first. */
enum root { SEARCH_PATH, BESIDE_CUDART, CUDA_HOME, VERSIONED, USUAL, ROOTS };

static const struct {
    enum root root;
    const char *folder;
} places[] = {
    {SEARCH_PATH, ""},
    {BESIDE_CUDART, ""},                      /* pip, CUDA 13: nvidia/cu13/lib */
    {BESIDE_CUDART, "../../cuda_cupti/lib/"}, /* pip, CUDA 12: nvidia/cuda_runtime/lib beside it */
    {CUDA_HOME, "/extras/CUPTI/lib64/"},
    {CUDA_HOME, "/lib64/"},
    {VERSIONED, "/extras/CUPTI/lib64/"},
    {VERSIONED, "/lib64/"},
    {USUAL, "/extras/CUPTI/lib64/"},
    {USUAL, "/lib64/"},
};

static bool try_major(const struct cupti_loader_services *services, struct cupti_api *api,
                      const struct mapped *mapped, int major, int minor)
{
    char versioned[64];
    snprintf(versioned, sizeof versioned, "/usr/local/cuda-%d.%d", major, minor);
    const char *home = getenv("CUDA_HOME");
    const char *const roots[ROOTS] = {
        [SEARCH_PATH] = "",
        [BESIDE_CUDART] = mapped->cudart_directory[0] ? mapped->cudart_directory : NULL,
        [CUDA_HOME] = home && home[0] ? home : NULL,
        [VERSIONED] = versioned,
        [USUAL] = "/usr/local/cuda",
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[3 * 4096];
        const char *root = roots[places[i].root];
        if (root) {
            snprintf(path, sizeof path, "%s%slibcupti.so.%d", root, places[i].folder, major);
            if (strlen(path) < sizeof api->path && try_path(services, api, path)) {
                return true;
            }
        }
    }
    return false;
}

bool cupti_load(const struct cupti_loader_services *services, struct cupti_api *api)
{
    struct mapped mapped = {0};
    const char *wanted = getenv("WARPWATCH_CUPTI");
    int major = services->driver_version / 1000, minor = services->driver_version % 1000 / 10;
    memset(api, 0, sizeof *api);
    dl_iterate_phdr(note_mapped, &mapped);
    if (mapped.cupti[0]) {
        api->already_mapped = true;
        return try_path(services, api, mapped.cupti);
    }
    if (wanted && wanted[0]) {
        return strlen(wanted) < sizeof api->path && try_path(services, api, wanted);
    }
    if (major >= 12 && try_major(services, api, &mapped, major, minor)) {
        return true;
    }
    for (int other = 13; other >= 12; other--) { /* a driver serves older libraries as well */
        if (other != major && (major == 0 || other < major) && try_major(services, api, &mapped, other, 0)) {
            return true;
        }
    }
    return false;
}
