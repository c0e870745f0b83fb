/* A finding joins those of the run. */
#include "draft.h"

#include <stdlib.h>

struct finding_draft finding_draft_of(const struct run_rule *rule, enum finding_severity severity)
{
    return (struct finding_draft){.id = rule->id,
                                  .title = rule->title,
                                  .severity = severity,
                                  .kernel = MERGED_NONE,
                                  .configuration = MERGED_NONE};
}

double finding_share(const struct findings_run *run, double cost)
{
    return run->capacity > 0 ? cost / run->capacity : 0;
}

void finding_add(const struct findings_run *run, const struct finding_draft *draft)
{
    struct merged *merged = run->merged;
    struct merged_finding *grown =
        realloc(merged->findings, ((size_t)merged->findings_count + 1) * sizeof *merged->findings);
    const char *evidence = merged_print(merged, "%s", draft->evidence.text);
    const char *advice = merged_print(merged, "%s", draft->advice.text);
    merged->findings = grown ? grown : merged->findings;
    if (!grown || !evidence || !advice) {
        *run->out_of_memory = true;
        return;
    }
    grown[merged->findings_count++] = (struct merged_finding){.id = draft->id,
                                                              .title = draft->title,
                                                              .severity = draft->severity,
                                                              .kernel = draft->kernel,
                                                              .configuration = draft->configuration,
                                                              .launches = draft->launches,
                                                              .cost = draft->cost,
                                                              .share = finding_share(run, draft->cost),
                                                              .evidence = evidence,
                                                              .advice = advice};
}
