/* CUPTI's one subscription in a process. */
#ifndef WARPWATCH_CUPTI_SUBSCRIBE_H
#define WARPWATCH_CUPTI_SUBSCRIBE_H

#include <cupti_callbacks.h>
#include <stdbool.h>
#include <stddef.h>

/* As cuptiSubscribe. On failure `why` says it, and names the profiler that has the subscription where CUPTI
 * tells. */
CUptiResult subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, char *why,
                      size_t size);
/* Profilers subscribe before they start. Does not keep the subscription. */
bool subscribed_by_other(char *why, size_t size);

#endif
