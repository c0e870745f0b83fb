/* Version, and subscription: one subscriber in the process, as up to driver r610. Launch callbacks are
 * delivered for the simulated driver's launches. */
#include <cupti_callbacks.h>

#include "stub.h"

static bool subscribed;

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

STUB_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                       void *data)
{
    CUptiResult result = stub_called(__func__);
    (void)callback, (void)data;
    if (result) {
        return result;
    }
    if (subscribed) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    subscribed = true;
    *subscriber = (CUpti_SubscriberHandle)&subscribed;
    return CUPTI_SUCCESS;
}

STUB_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    (void)subscriber;
    subscribed = false;
    return stub_called(__func__);
}

STUB_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                            CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)enable, (void)subscriber, (void)domain, (void)id;
    return subscribed ? stub_called(__func__) : stub_violation(__func__, "nobody has subscribed");
}
