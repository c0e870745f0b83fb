/* Sequences of launches that repeat: kernels that follow each other, launched in the same proportion. */
#ifndef WARPWATCH_FINDINGS_SEQUENCES_H
#define WARPWATCH_FINDINGS_SEQUENCES_H

#include "rules.h"

enum { SEQUENCE_LEAST = 2, SEQUENCE_MOST = 1024 };

struct sequence {
    const uint32_t *members; /* configurations, for all equal devices the first, about as they follow */
    uint32_t members_count;
    uint64_t length;   /* launches in one round */
    uint64_t repeats;  /* rounds */
    uint64_t launches; /* of all members, by themselves: not by a graph */
};

typedef void sequence_visitor(const struct sequence *sequence, void *context);

/* Calls `visit` for each sequence worth replacing: long enough, repeated often, mostly of small launches that
 * are not replayed by a graph already. False: out of memory. */
bool sequences_find(const struct findings_run *run, sequence_visitor *visit, void *context);

#endif
