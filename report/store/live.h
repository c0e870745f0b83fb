/* Stores that live elsewhere than in the output directory, which holds a pointer file to them. */
#ifndef WARPWATCH_LIVE_H
#define WARPWATCH_LIVE_H

#include "read.h"

/* The store behind a pointer file. If its process is gone, it is brought home first: copied beside the
 * pointer file, which then goes, as does the live store. The caller frees; NULL: `reason` says why in a few
 * words. */
char *live_store_find(const char *pointer, char reason[STORE_REASON_BYTES]);

#endif
