/* Recording without the preload: a driver that finds this library in CUDA_INJECTION64_PATH opens it in
 * cuInit. It subscribes to CUPTI's callbacks and calls the hooks of libwarpwatch.so, opened from beside it,
 * for each driver call that has ended. The subscription is the process's only one: no other profiler can have
 * it meanwhile. */
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cupti/diagnose.h"
#include "cupti/plugin_state.h"
#include "cupti/subscribe.h"
#include "shim/elf_object.h"

/* --- from a callback to a hook ------------------------------------------------------------------------- */

static void *hooks[CUPTI_DRIVER_TRACE_CBID_SIZE];
static const struct plugin_recording *recording;

#define HOOK_TYPE(name, wrapper, parameters, arguments) typedef CUresult name##_hook parameters;
#define LAUNCH_HOOK                                     HOOK_TYPE
#define LEGACY_HOOK                                     HOOK_TYPE
#define MODULE_HOOK                                     HOOK_TYPE
#define CONTEXT_HOOK                                    HOOK_TYPE
#define CAPTURE_HOOK                                    HOOK_TYPE
#define GRAPH_HOOK                                      HOOK_TYPE
#include "shim/driver_api.def"

#define CALLBACK(name, arguments)                                                                            \
    static void call_##name(const void *given)                                                               \
    {                                                                                                        \
        const name##_params *p = given;                                                                      \
        ((name##_hook *)hooks[CUPTI_DRIVER_TRACE_CBID_##name]) arguments;                                    \
    }
#include "cupti/callbacks.def"

static const struct {
    const char *name;
    void (*call)(const void *given);
} functions[CUPTI_DRIVER_TRACE_CBID_SIZE] = {
#define FUNCTION(name, wrapper, parameters, arguments)                                                       \
    [CUPTI_DRIVER_TRACE_CBID_##name] = {#name, call_##name},
#define LAUNCH_HOOK  FUNCTION
#define LEGACY_HOOK  FUNCTION
#define MODULE_HOOK  FUNCTION
#define CONTEXT_HOOK FUNCTION
#define CAPTURE_HOOK FUNCTION
#define GRAPH_HOOK   FUNCTION
#include "shim/driver_api.def"
};

/* A handle that ends with the call; it is the first parameter. */
static void *ending_handle(const CUpti_CallbackData *data)
{
    void *handle;
    memcpy(&handle, data->functionParams, sizeof handle);
    return handle;
}

static void call_begins(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy:
        *data->correlationData = recording->graph_ending(ending_handle(data));
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleUnload:
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload:
        *data->correlationData = recording->owner_ending(ending_handle(data));
        break;
    default:
        *data->correlationData = recording->now_ticks();
    }
}

static void call_ended(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    CUresult result = *(const CUresult *)data->functionReturnValue;
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy:
        recording->graph_ended((uint32_t)*data->correlationData, result == CUDA_SUCCESS);
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleUnload:
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload:
        recording->owner_ended((uint32_t)*data->correlationData, result == CUDA_SUCCESS);
        break;
    default:
        if (recording->answered(result, *data->correlationData)) {
            functions[id].call(data->functionParams);
        }
    }
}

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *opaque)
{
    const CUpti_CallbackData *data = opaque;
    (void)user;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= CUPTI_DRIVER_TRACE_CBID_SIZE || !hooks[id]) {
        return;
    }
    if (data->callbackSite == CUPTI_API_ENTER) {
        call_begins(id, data);
    } else {
        call_ended(id, data);
    }
}

/* --- getting there ------------------------------------------------------------------------------------- */

static void *(*library_open)(const char *path, int flags);
static void *(*library_symbol)(void *library, const char *name);

static bool is_library(const struct elf_object *object, const void *name)
{
    return elf_object_is(object, name);
}

static void *driver_symbol(const char *name)
{
    struct elf_object driver;
    return elf_object_find(is_library, "libcuda.so", &driver) ? elf_object_symbol(&driver, name) : NULL;
}

static void say(const char *line)
{
    char text[PATH_MAX + 512];
    int length = snprintf(text, sizeof text, "warpwatch: not recording: %s\n", line);
    ssize_t written =
        write(STDERR_FILENO, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    (void)written;
}

static void find_recorder_path(char path[PATH_MAX])
{
    struct elf_object own;
    const char *slash = NULL;
    if (elf_object_holding((const void *)find_recorder_path, &own)) {
        slash = strrchr(own.path, '/');
    }
    snprintf(path, PATH_MAX, "%.*slibwarpwatch.so", slash ? (int)(slash + 1 - own.path) : 0, own.path);
}

/* One that is mapped already was preloaded: a second copy would count everything twice. */
static void *open_recorder(void)
{
    struct elf_object mapped;
    char path[PATH_MAX], line[PATH_MAX + 128];
    if (elf_object_find(is_library, "libwarpwatch.so", &mapped)) {
        return NULL;
    }
    find_recorder_path(path);
    void *recorder = library_open(path, RTLD_NOW | RTLD_LOCAL);
    if (!recorder) {
        snprintf(line, sizeof line, "%s cannot be loaded: it belongs beside libwarpwatch_cupti.so", path);
        say(line);
    }
    return recorder;
}

/* An older CUPTI does not know the latest functions; without launches there is nothing to record. */
static CUptiResult enable_callbacks(CUpti_SubscriberHandle subscriber, void *recorder)
{
    CUptiResult result = CUPTI_SUCCESS;
    for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE && !result; id++) {
        hooks[id] = functions[id].name ? library_symbol(recorder, functions[id].name) : NULL;
        result = hooks[id] ? cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id)
                           : CUPTI_SUCCESS;
        bool unknown =
            result == CUPTI_ERROR_INVALID_PARAMETER && id != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
        result = unknown ? CUPTI_SUCCESS : result;
    }
    return result;
}

static bool listen(void *recorder, char *why, size_t size)
{
    CUpti_SubscriberHandle subscriber;
    if (!(cupti.parts & CUPTI_PART_INJECTION)) {
        snprintf(why, size, "%s has no callbacks", cupti.path);
        return false;
    }
    if (subscribe(&subscriber, called, why, size) != CUPTI_SUCCESS) {
        return false;
    }
    CUptiResult result = enable_callbacks(subscriber, recorder);
    if (result) {
        cupti.cuptiUnsubscribe(subscriber);
        diagnose_result(why, size, "callbacks", &cupti, result);
    }
    return result == CUPTI_SUCCESS;
}

static void record(void *recorder)
{
    char why[PATH_MAX + 256], line[PATH_MAX + 300];
    const struct plugin_recording *(*open)(uint32_t) =
        (const struct plugin_recording *(*)(uint32_t))library_symbol(recorder, "warpwatch_recording_open");
    recording = open ? open(PLUGIN_VERSION) : NULL;
    if (!recording) {
        return;
    }
    plugin.library_open = library_open;
    plugin.library_symbol = library_symbol;
    plugin.driver_symbol = driver_symbol;
    if (!plugin_find_cupti(why, sizeof why) || !listen(recorder, why, sizeof why)) {
        snprintf(line, sizeof line, "not recording: %s", why);
        recording->complain(line);
    }
}

/* What the driver calls. Whatever fails, CUDA goes on. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
    static atomic_flag called_before = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&called_before)) {
        library_open = (void *(*)(const char *, int))plugin_loaded_function("dlopen");
        library_symbol = (void *(*)(void *, const char *))plugin_loaded_function("dlsym");
        void *recorder = library_open && library_symbol ? open_recorder() : NULL;
        if (recorder) {
            record(recorder);
        }
    }
    return 1;
}
