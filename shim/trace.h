/* The trace: every launch of a thread in order, in a ring of the thread's own. */
#ifndef WARPWATCH_TRACE_H
#define WARPWATCH_TRACE_H

#include "shard.h"

/* Begins with a new store. */
void trace_open(void);
void trace_launch(struct shard *shard, uint32_t target, uint64_t stream, uint64_t start, uint64_t end);
/* Another thread takes the shard over. Locked. */
void trace_mark_thread(struct shard *shard);

#endif
