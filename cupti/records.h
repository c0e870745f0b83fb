/* From CUPTI's activity records to durations: which configuration or graph each was of.
 *
 * That is told by an external correlation id which timing.c pushes around the launch: CUPTI delivers a record
 * (correlation id, our id) and, for each kernel or graph, one with its correlation id and times. The two come
 * in either order, in different buffers, so whichever is first waits in a fixed-size table for the other. */
#ifndef WARPWATCH_CUPTI_RECORDS_H
#define WARPWATCH_CUPTI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plugin_launch;

/* False: no memory. */
bool records_open(void);
/* The id of a launch that is about to be made. */
uint64_t records_id(const struct plugin_launch *launch);
/* It was made. Says what it was, if that was not known before. */
void records_launched(uint64_t id, const struct plugin_launch *launch);
/* A buffer of records, `dropped` more were lost. */
void records_read(uint8_t *buffer, size_t bytes, size_t dropped);

#endif
