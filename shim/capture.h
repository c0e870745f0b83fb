/* Streams that are known to be captured. Capture spreads to other streams through events, so this only says
 * whether any launch at all may be captured; the driver says which. */
#ifndef WARPWATCH_CAPTURE_H
#define WARPWATCH_CAPTURE_H

#include "driver.h"

/* Does a launch into this stream record a graph node instead of running? Asks the driver. */
bool capture_holds(CUstream stream, bool per_thread);
void capture_context_ended(CUcontext context);

#endif
