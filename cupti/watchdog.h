/* A launch that is being measured and does not end. CUPTI waits for it and cannot be interrupted, so all that
 * can be done is to say which kernel it is, while the program stands still. */
#ifndef WARPWATCH_CUPTI_WATCHDOG_H
#define WARPWATCH_CUPTI_WATCHDOG_H

#include <stdint.h>

/* One launch at a time. `late` is called once if it takes longer than `limit_ns`: from a thread of the
 * watchdog's own while it lasts, or by watchdog_end at the latest. `kernel` must last. */
void watchdog_begin(const char *kernel, uint64_t limit_ns, void (*late)(const char *kernel));
void watchdog_end(void);

#endif
