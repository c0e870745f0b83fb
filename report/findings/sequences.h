/* Sequences of launches that repeat: cycles in "what most often came next". */
#ifndef WARPWATCH_FINDINGS_SEQUENCES_H
#define WARPWATCH_FINDINGS_SEQUENCES_H

#include "rules.h"

enum { SEQUENCE_LEAST = 2, SEQUENCE_MOST = 64 };

struct sequence {
    uint32_t first; /* configuration; the others follow by `successor` */
    uint32_t length;
    uint64_t repeats; /* of its rarest member */
};

typedef void sequence_visitor(const struct sequence *sequence, void *context);

/* Calls `visit` for each cycle worth replacing: long enough, repeated often, mostly of small launches that
 * are not replayed by a graph already. False: out of memory. */
bool sequences_find(const struct findings_run *run, sequence_visitor *visit, void *context);

#endif
