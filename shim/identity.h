/* Who the process is: what the store's header says of it. */
#ifndef WARPWATCH_IDENTITY_H
#define WARPWATCH_IDENTITY_H

#include "store.h"

void identity_host(char host[64]);
uint64_t identity_realtime_ns(void);
/* Fills the fixed part of the header and writes its texts. Locked. */
void identity_fill(struct store_header *header, uint64_t start_realtime_ns, uint32_t driver_version);

#endif
