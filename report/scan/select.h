/* Which entries of a container matter to the question asked. */
#ifndef WARPWATCH_SCAN_SELECT_H
#define WARPWATCH_SCAN_SELECT_H

#include "scan.h"

/* Whether the options ask for device code of this architecture. */
bool scan_wants(const struct scan_options *options, uint32_t sm, char variant, bool ptx);

/* Whether the code runs on a device of that capability (90 = 9.0). PTX of an older architecture runs on every
 * newer one; a cubin within its major version only; 'a' on its own architecture; 'f' within its family. */
bool scan_runs_on(int capability, uint32_t sm, char variant, bool ptx);

/* Marks in `chosen` the entries of one container to be read. A device loads one cubin only, the most recent
 * that it can run; text counts where the container has no cubin for it. */
void scan_select(const struct scan_options *options, const struct fatbin_entry *entries, size_t count,
                 bool *chosen);

#endif
