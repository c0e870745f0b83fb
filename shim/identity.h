/* Who the process is: what the store's header says of it. */
#ifndef WARPWATCH_IDENTITY_H
#define WARPWATCH_IDENTITY_H

#include "clock.h"
#include "store.h"

void identity_host(char host[64]);
/* Fills the fixed part of the header and writes its texts; the process began to launch at `start`. Locked. */
void identity_fill(struct store_header *header, const struct clock_moment *start, uint32_t driver_version);

#endif
