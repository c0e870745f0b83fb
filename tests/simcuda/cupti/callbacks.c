/* Version, and subscription: one subscriber in the process, as up to driver r610. It is told of the driver
 * calls whose callbacks it has enabled. */
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "observer.h"
#include "stub.h"

static struct {
    atomic_bool taken;
    CUpti_CallbackFunc callback;
    void *data;
    atomic_bool enabled[CUPTI_DRIVER_TRACE_CBID_SIZE];
    atomic_uint correlation;
} subscriber;

static void tell(const struct driver_call *call)
{
    static _Thread_local uint32_t correlation;
    if (!atomic_load(&subscriber.taken) || !atomic_load(&subscriber.enabled[call->id])) {
        return;
    }
    if (!call->ended) {
        correlation = atomic_fetch_add(&subscriber.correlation, 1) + 1;
    }
    CUresult result = call->result;
    const CUpti_CallbackData data = {.callbackSite = call->ended ? CUPTI_API_EXIT : CUPTI_API_ENTER,
                                     .functionName = call->function,
                                     .functionParams = call->given,
                                     .functionReturnValue = call->ended ? &result : NULL,
                                     .correlationId = correlation,
                                     .correlationData = call->between};
    subscriber.callback(subscriber.data, CUPTI_CB_DOMAIN_DRIVER_API, call->id, &data);
}

STUB_EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = 130000;
    return stub_called(__func__);
}

STUB_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    (void)result;
    *text = "CUPTI_ERROR_SCRIPTED";
    return CUPTI_SUCCESS;
}

static CUptiResult take(CUptiResult result, CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                        void *data)
{
    if (result) {
        return result;
    }
    if (atomic_exchange(&subscriber.taken, true)) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    subscriber.callback = callback;
    subscriber.data = data;
    observer_set_calls(OBSERVER_CALLBACKS, tell);
    *handle = (CUpti_SubscriberHandle)&subscriber;
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                                       void *data)
{
    return take(stub_called(__func__), handle, callback, data);
}

#ifndef SIMCUPTI_12 /* what CUDA before 12.8 offers */
STUB_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                                          void *data, CUpti_SubscriberParams *params)
{
    if (stub_check_size(__func__, params->structSize, CUpti_SubscriberParams_STRUCT_SIZE)) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    CUptiResult result = take(stub_called(__func__), handle, callback, data);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && params->oldSubscriberName) {
        const char *owner = getenv("SIMCUPTI_OWNER");
        snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", owner ? owner : "");
    }
    return result;
}
#endif

STUB_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    CUptiResult result = stub_called(__func__);
    if (result == CUPTI_SUCCESS && handle != (CUpti_SubscriberHandle)&subscriber) {
        return stub_violation(__func__, "unsubscribed by somebody who has not subscribed");
    }
    observer_set_calls(OBSERVER_CALLBACKS, NULL);
    for (int id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++) {
        atomic_store(&subscriber.enabled[id], false);
    }
    atomic_store(&subscriber.taken, false);
    return result;
}

STUB_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                            CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    CUptiResult result = stub_called(__func__);
    if (!atomic_load(&subscriber.taken) || handle != (CUpti_SubscriberHandle)&subscriber) {
        return stub_violation(__func__, "nobody has subscribed");
    }
    if (result == CUPTI_SUCCESS &&
        (domain != CUPTI_CB_DOMAIN_DRIVER_API || id == 0 || id >= CUPTI_DRIVER_TRACE_CBID_SIZE)) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (result == CUPTI_SUCCESS) {
        atomic_store(&subscriber.enabled[id], enable != 0);
    }
    return result;
}
