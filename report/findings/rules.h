/* What a rule gets and what it says. A rule judges one configuration; collect.c adds up what it says of all
 * configurations of a kernel. */
#ifndef WARPWATCH_FINDINGS_RULES_H
#define WARPWATCH_FINDINGS_RULES_H

#include <stdbool.h>

#include "store/labels.h"
#include "store/merged.h"
#include "words.h"

#define THRESHOLD(name, value, meaning) static const double threshold_##name __attribute__((unused)) = value;
#include "thresholds.def"
#undef THRESHOLD

/* The run, seen once. Costs are in SM·ns where GPU times are known of every configuration, else in SM-waves:
 * one SM for one wave. */
struct findings_run {
    struct merged *merged;
    double capacity; /* all that launches offered, in the unit of costs; 0 unknown */
    double seconds;  /* of the longest process */
    bool timed;
    const bool *in_sequence;        /* by configuration: a member of a repeating sequence */
    const uint32_t *first_of_equal; /* by configuration: the first that differs by no more than the device */
    bool *out_of_memory;
};

struct subject {
    const struct findings_run *run;
    const struct merged_kernel *kernel;
    const struct merged_configuration *configuration;
    const struct merged_device *device;
    const struct judgement *judged;
    double offered; /* SM-waves or SM·ns over all its launches; 0 unknown */
};

struct verdict {
    bool applies;
    double fraction; /* of what the launches offered, lost to this; 0: no such figure */
};

struct rule {
    const char *id, *title;
    enum finding_severity most_severe;
    struct verdict (*judge)(const struct subject *subject);
    /* Of the configuration where it costs most. */
    void (*evidence)(const struct subject *subject, struct sentence *sentence);
    void (*advice)(const struct subject *subject, struct sentence *sentence);
};

struct run_rule {
    const char *id, *title;
    /* Adds its findings by finding_add. */
    void (*judge)(const struct findings_run *run, const struct run_rule *rule);
};

#define RULE(function, id, title, most_severe)                                                               \
    struct verdict function##_judge(const struct subject *subject);                                          \
    void function##_evidence(const struct subject *, struct sentence *);                                     \
    void function##_advice(const struct subject *, struct sentence *);
#define RUN_RULE(function, id, title)                                                                        \
    void function##_judge(const struct findings_run *run, const struct run_rule *rule);
#include "findings.def"
#undef RULE
#undef RUN_RULE

extern const struct rule finding_rules[];
extern const unsigned finding_rules_count;

static inline struct subject subject_of(const struct findings_run *run,
                                        const struct merged_configuration *configuration)
{
    return (struct subject){.run = run,
                            .kernel = &run->merged->kernels[configuration->kernel],
                            .configuration = configuration,
                            .device = &run->merged->devices[configuration->device],
                            .judged = &configuration->judged,
                            .offered =
                                run->timed ? configuration->judged.taken_ns : configuration->judged.taken};
}

/* Idle SMs are by design, or others may use them. */
static inline bool subject_excused(const struct subject *subject)
{
    return subject->configuration->labels & LABELS_EXCUSED;
}

/* So small that launching it costs more than running it, and launched directly many times. */
bool subject_is_tiny(const struct subject *subject);

#endif
