/* Findings as they are made, before they are ranked. */
#ifndef WARPWATCH_FINDINGS_DRAFT_H
#define WARPWATCH_FINDINGS_DRAFT_H

#include "rules.h"

struct finding_draft {
    const char *id, *title;
    enum finding_severity severity;
    uint32_t kernel, configuration; /* MERGED_NONE as in struct merged_finding */
    uint64_t launches;
    double cost;
    struct sentence evidence, advice;
};

/* Of a rule about the run: no kernel, no cost yet. */
struct finding_draft finding_draft_of(const struct run_rule *rule, enum finding_severity severity);

/* Of what the launches of the run offered; 0 unknown. */
double finding_share(const struct findings_run *run, double cost);

/* Out of memory is noted and shows in the result of findings_compute. */
void finding_add(const struct findings_run *run, const struct finding_draft *draft);

#endif
