/* Newer libraries name the subscriber that is in the way (CUDA 12.8: cuptiSubscribe_v2). */
#include "cupti/subscribe.h"

#include <stdio.h>

#include "cupti/diagnose.h"
#include "cupti/plugin_state.h"

static void explain(CUptiResult result, const char *owner, char *why, size_t size)
{
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && owner[0]) {
        snprintf(why, size, "another profiler (%s) holds CUPTI in this process: run without it", owner);
    } else if (result) {
        diagnose_result(why, size, "CUPTI", &cupti, result);
    }
}

CUptiResult subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, char *why, size_t size)
{
    char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    CUpti_SubscriberParams parameters = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                         .subscriberName = "warpwatch",
                                         .oldSubscriberName = owner,
                                         .oldSubscriberSize = sizeof owner};
    CUptiResult result = cupti.cuptiSubscribe_v2
                             ? cupti.cuptiSubscribe_v2(subscriber, callback, NULL, &parameters)
                             : cupti.cuptiSubscribe(subscriber, callback, NULL);
    owner[sizeof owner - 1] = '\0';
    explain(result, owner, why, size);
    return result;
}

static void CUPTIAPI ignore(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user, (void)domain, (void)id, (void)data;
}

bool subscribed_by_other(char *why, size_t size)
{
    CUpti_SubscriberHandle subscriber;
    if (plugin.settings.other_profiler) { /* which may have unsubscribed, and will come again */
        diagnose_result(why, size, "CUPTI", &cupti, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
        return true;
    }
    if (!(cupti.parts & CUPTI_PART_INJECTION)) {
        return false;
    }
    CUptiResult result = subscribe(&subscriber, ignore, why, size);
    if (result == CUPTI_SUCCESS) {
        cupti.cuptiUnsubscribe(subscriber);
    }
    return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}
