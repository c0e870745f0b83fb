/* Hooks of what ends contexts. All that was known of handles and devices through them is asked again. */
#include "capture.h"
#include "describe.h"
#include "graph_exec.h"
#include "hook.h"
#include "plugin_host.h"
#include "recorder_state.h"
#include "registry.h"
#include "resolve.h"

static void forget_contexts(void)
{
    recorder_lock_take();
    registry_forget_all();
    graph_exec_forget_all();
    resolve_drop_pending(NULL);
    describe_forget_contexts();
    recorder_lock_give();
}

/* What was met while streams were captured is not asked about once contexts may be gone. */
static void contexts_ending(void)
{
    resolve_pause();
    recorder_lock_take();
    resolve_drop_pending(NULL);
    recorder_lock_give();
    resolve_go_on();
}

static CUresult context_destroy(struct call call, CUcontext context)
{
    contexts_ending();
    plugin_context_ending(context);
    CUresult result = REAL(cuCtxDestroy)(context);
    if (result == CUDA_SUCCESS) {
        forget_contexts();
        capture_context_ended(context);
    }
    return result;
}

static bool primary_is_active(CUdevice device)
{
    unsigned flags = 0;
    int active = 1;
    const struct driver_queries *driver = driver_query();
    return driver->cuDevicePrimaryCtxGetState &&
           driver->cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active;
}

/* A release ends the context only when it was the last. */
static CUresult context_primary_end(struct call call, CUdevice device)
{
    CUcontext context = describe_context_of_device(device);
    if (context) {
        plugin_context_ending(context);
    }
    contexts_ending();
    CUresult result = REAL(cuDevicePrimaryCtxRelease)(device);
    bool reset = call.api == API_cuDevicePrimaryCtxReset || call.api == API_cuDevicePrimaryCtxReset_v2;
    if (result == CUDA_SUCCESS && (reset || !primary_is_active(device))) {
        forget_contexts();
    }
    return result;
}

/* Two green contexts of a device have different numbers of SMs: from now on a handle alone does not say
 * enough. */
static CUresult context_green_create(struct call call, CUgreenCtx *context, CUdevResourceDesc resources,
                                     CUdevice device, unsigned flags)
{
    CUresult result = REAL(cuGreenCtxCreate)(context, resources, device, flags);
    if (result == CUDA_SUCCESS) {
        registry_tell_places_apart(PLACES_PARTS);
    }
    return result;
}

static CUresult context_green_destroy(struct call call, CUgreenCtx context)
{
    contexts_ending();
    CUresult result = REAL(cuGreenCtxDestroy)(context);
    if (result == CUDA_SUCCESS) {
        forget_contexts();
    }
    return result;
}

#define CONTEXT_HOOK HOOK_ENTRIES
#include "driver_api.def"
