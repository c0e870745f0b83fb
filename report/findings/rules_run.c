/* Rules about the run as a whole: what repeats, what dominates, what was not seen. */
#include <stdlib.h>

#include "draft.h"
#include "sequences.h"

/* --- sequences ----------------------------------------------------------------------------------------- */

struct sequence_context {
    const struct findings_run *run;
    const struct run_rule *rule;
};

enum { MEMBERS_NAMED = 3 };

static void say_members(const struct merged *merged, const struct sequence *sequence,
                        struct sentence *sentence)
{
    uint32_t named = sequence->members_count > MEMBERS_NAMED ? MEMBERS_NAMED : sequence->members_count;
    for (uint32_t i = 0; i < named; i++) {
        const struct merged_configuration *member = &merged->configurations[sequence->members[i]];
        say(sentence, "%s%s", i ? ", " : "", NAME(merged->kernels[member->kernel].short_name));
    }
    if (sequence->members_count > named) {
        say(sentence, " and %u more", sequence->members_count - named);
    }
}

/* Idle SMs of members that no other finding accuses: see tiny_launches_judge. */
static double member_cost(const struct findings_run *run, const struct merged_configuration *member)
{
    struct subject subject = subject_of(run, member);
    return subject_is_tiny(&subject) ? member->judged.tail_waste * subject.offered : 0;
}

static double sequence_cost(const struct findings_run *run, const struct sequence *sequence)
{
    const struct merged *merged = run->merged;
    double cost = 0;
    for (uint32_t i = 0; i < sequence->members_count; i++) {
        const struct merged_kernel *kernel =
            &merged->kernels[merged->configurations[sequence->members[i]].kernel];
        for (uint32_t j = kernel->first_configuration;
             j < kernel->first_configuration + kernel->configurations; j++) {
            if (run->first_of_equal[j] == sequence->members[i]) {
                cost += member_cost(run, &merged->configurations[j]);
            }
        }
    }
    return cost;
}

static void sequence_report(const struct sequence *sequence, void *context)
{
    const struct sequence_context *made = context;
    const struct merged *merged = made->run->merged;
    struct finding_draft draft = finding_draft_of(made->rule, SEVERITY_MEDIUM);
    draft.cost = sequence_cost(made->run, sequence);
    if (draft.cost > 0 && draft.cost >= threshold_high_share * made->run->capacity) {
        draft.severity = SEVERITY_HIGH;
    }
    draft.launches = sequence->launches;
    draft.configuration = sequence->members[0];
    draft.kernel = merged->configurations[draft.configuration].kernel;
    say(&draft.evidence,
        "%s, most of them too small for the GPU, repeat about %s times: ", PLURAL(sequence->length, "launch"),
        COUNT(sequence->repeats));
    say_members(merged, sequence, &draft.evidence);
    say(&draft.evidence, ".");
    say(&draft.advice,
        "Capture the %s launches once as a CUDA graph and replay it, or fuse them into fewer kernels.",
        COUNT(sequence->length));
    finding_add(made->run, &draft);
}

void repeating_sequence_judge(const struct findings_run *run, const struct run_rule *rule)
{
    struct sequence_context context = {run, rule};
    if (!sequences_find(run, sequence_report, &context)) {
        *run->out_of_memory = true;
    }
}

/* --- where to look first ------------------------------------------------------------------------------- */

static double share_of_run(const struct findings_run *run, const struct merged_configuration *configuration)
{
    if (run->timed) {
        return run->capacity > 0 ? subject_of(run, configuration).offered / run->capacity : 0;
    }
    return (double)configuration->launches / (double)run->merged->totals.launches;
}

struct largest {
    const struct merged_configuration *configuration; /* the first of equal ones, NULL: none */
    double share;
    uint64_t launches;
};

static struct largest largest_of(const struct findings_run *run, struct largest *groups)
{
    const struct merged *merged = run->merged;
    struct largest most = {NULL, 0, 0};
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        struct largest *group = &groups[run->first_of_equal[i]];
        group->configuration = &merged->configurations[run->first_of_equal[i]];
        group->share += share_of_run(run, &merged->configurations[i]);
        group->launches += merged->configurations[i].launches;
        most = group->share > most.share ? *group : most;
    }
    return most;
}

void dominated_by_one_configuration_judge(const struct findings_run *run, const struct run_rule *rule)
{
    const struct merged *merged = run->merged;
    if (merged->configurations_count < threshold_dominant_of) {
        return;
    }
    struct largest *groups = calloc(merged->configurations_count, sizeof *groups);
    if (!groups) {
        *run->out_of_memory = true;
        return;
    }
    struct largest most = largest_of(run, groups);
    free(groups);
    if (!most.configuration ||
        most.share < (run->timed ? threshold_dominant_gpu_time : threshold_dominant_launches)) {
        return;
    }
    struct finding_draft draft = finding_draft_of(rule, SEVERITY_NOTE);
    draft.kernel = most.configuration->kernel;
    draft.configuration = (uint32_t)(most.configuration - merged->configurations);
    draft.launches = most.launches;
    say(&draft.evidence, "%s of %s are of this one of %s configurations.", PERCENT(most.share),
        run->timed ? "the GPU time" : "all launches", COUNT(merged->configurations_count));
    say(&draft.advice, "Look at this kernel first: what is gained elsewhere hardly counts.");
    finding_add(run, &draft);
}

/* --- what the report did not see ----------------------------------------------------------------------- */

static enum store_loss first_loss(const struct merged *merged)
{
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        if (merged->processes[i].lost) {
            return merged->processes[i].lost_reason;
        }
    }
    return STORE_LOSS_NONE;
}

static const char *loss_advice(enum store_loss reason)
{
    switch (reason) {
    case STORE_LOSS_NO_SPACE:
        return "Make room where the store lies, or choose another place with WARPWATCH_OUTPUT or "
               "WARPWATCH_LIVE.";
    case STORE_LOSS_NO_MEMORY:
        return "Give the program more memory: the process could not map more of its store.";
    default:
        return "Count each figure of this report as a lower bound.";
    }
}

void launches_lost_judge(const struct findings_run *run, const struct run_rule *rule)
{
    const struct merged *merged = run->merged;
    if (merged->totals.lost == 0) {
        return;
    }
    struct finding_draft draft = finding_draft_of(rule, SEVERITY_HIGH);
    draft.launches = merged->totals.lost;
    say(&draft.evidence, "%s were seen but not recorded; %s were.", PLURAL(merged->totals.lost, "launch"),
        COUNT(merged->totals.launches));
    say(&draft.advice, "%s", loss_advice(first_loss(merged)));
    finding_add(run, &draft);
}

void launches_uncounted_judge(const struct findings_run *run, const struct run_rule *rule)
{
    const struct merged *merged = run->merged;
    static const char *const kinds[] = {"through conditional graph nodes", "of device-side graph launches",
                                        "of nodes that the device may switch off"};
    if (merged->totals.uncounted == 0) {
        return;
    }
    struct finding_draft draft = finding_draft_of(rule, SEVERITY_NOTE);
    draft.launches = merged->totals.uncounted;
    say(&draft.evidence,
        "%s led to launches that only the GPU knows:", PLURAL(merged->totals.uncounted, "request"));
    for (int kind = 0; kind < 3; kind++) {
        uint64_t requests = 0;
        for (uint32_t i = 0; i < merged->processes_count; i++) {
            requests += merged->processes[i].uncounted[kind];
        }
        if (requests) {
            say(&draft.evidence, " %s %s;", COUNT(requests), kinds[kind]);
        }
    }
    draft.evidence.text[draft.evidence.bytes - 1] = '.';
    say(&draft.advice,
        "Read counts of the kernels inside as lower bounds; a trace of the GPU (nsys) has the rest.");
    finding_add(run, &draft);
}

void configurations_limit_judge(const struct findings_run *run, const struct run_rule *rule)
{
    const struct merged *merged = run->merged;
    if (merged->totals.further == 0) {
        return;
    }
    struct finding_draft draft = finding_draft_of(rule, SEVERITY_NOTE);
    draft.launches = merged->totals.further;
    say(&draft.evidence,
        "%s came after the limit of configurations: they are counted by kernel, without shape.",
        PLURAL(merged->totals.further, "launch"));
    say(&draft.advice, "Set WARPWATCH_FILTER to the kernels that matter, so that theirs are told apart.");
    finding_add(run, &draft);
}
