/* What wastes the GPU in this run: rules over the merged and judged data, ranked by what they cost over the
 * whole run. Each rule's page is docs/findings/<id>.md. */
#ifndef WARPWATCH_FINDINGS_H
#define WARPWATCH_FINDINGS_H

#include <stdbool.h>

#include "store/merged.h"

/* After judge_all: fills merged->findings, costliest first. False: out of memory. */
bool findings_compute(struct merged *merged);

#endif
