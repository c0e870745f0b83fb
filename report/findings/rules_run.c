/* Rules about the run as a whole: what repeats, what the host does, which rank differs, what was not seen. */
#include <math.h>

#include "collect.h"
#include "sequences.h"

static struct finding_draft draft_of(const struct run_rule *rule, enum finding_severity severity)
{
    return (struct finding_draft){.id = rule->id,
                                  .title = rule->title,
                                  .severity = severity,
                                  .kernel = MERGED_NONE,
                                  .configuration = MERGED_NONE};
}

/* --- sequences ----------------------------------------------------------------------------------------- */

struct sequence_context {
    const struct findings_run *run;
    const struct run_rule *rule;
};

enum { MEMBERS_NAMED = 4 };

static void say_members(const struct merged *merged, const struct sequence *sequence,
                        struct sentence *sentence)
{
    uint32_t at = sequence->first;
    for (uint32_t i = 0; i < sequence->length && i < MEMBERS_NAMED; i++) {
        const struct merged_configuration *member = &merged->configurations[at];
        say(sentence, "%s%s", i ? " → " : "", NAME(merged->kernels[member->kernel].short_name));
        at = member->successor;
    }
    if (sequence->length > MEMBERS_NAMED) {
        say(sentence, " → %u more", sequence->length - MEMBERS_NAMED);
    }
}

static void sequence_report(const struct sequence *sequence, void *context)
{
    const struct sequence_context *made = context;
    const struct merged *merged = made->run->merged;
    struct finding_draft draft = draft_of(made->rule, SEVERITY_MEDIUM);
    uint32_t at = sequence->first;
    do {
        const struct merged_configuration *member = &merged->configurations[at];
        draft.launches += member->launches - member->graph_launches;
        at = member->successor;
    } while (at != sequence->first);
    draft.configuration = sequence->first;
    draft.kernel = merged->configurations[sequence->first].kernel;
    say_members(merged, sequence, &draft.evidence);
    say(&draft.evidence,
        ": these %u launches follow each other about %s times, most of them too small for the GPU.",
        sequence->length, COUNT(sequence->repeats));
    say(&draft.advice,
        "Capture the %u launches once as a CUDA graph and replay it, or fuse them into one kernel.",
        sequence->length);
    finding_add(made->run, &draft);
}

void repeating_sequence_judge(const struct findings_run *run, const struct run_rule *rule)
{
    struct sequence_context context = {run, rule};
    if (!sequences_find(run, sequence_report, &context)) {
        *run->out_of_memory = true;
    }
}

/* --- the host ------------------------------------------------------------------------------------------ */

static double launch_call_share(const struct merged_process *process)
{
    if (!(process->features & STORE_FEATURE_TIMES) || process->seconds <= 0) {
        return 0;
    }
    double threads = process->threads > 1 ? process->threads : 1;
    return (double)process->launch_call_ns / (process->seconds * 1e9 * threads);
}

static double launch_call_mean_ns(const struct merged_process *process)
{
    uint64_t direct = process->launches - process->graph_launches;
    return direct ? (double)process->launch_call_ns / (double)direct : 0;
}

static bool is_launch_bound(const struct merged_process *process)
{
    return launch_call_share(process) >= threshold_launch_call_share &&
           launch_call_mean_ns(process) <= threshold_launch_call_blocked_ns &&
           (double)(process->launches - process->graph_launches) >= threshold_tiny_launches;
}

static bool any_simulated(const struct merged *merged)
{
    for (uint32_t i = 0; i < merged->devices_count; i++) {
        if (merged->devices[i].simulated) {
            return true;
        }
    }
    return false;
}

/* Only where GPU times are known; then a busy GPU means that the host is fast enough. */
static bool gpu_is_busy(const struct findings_run *run)
{
    double ns = 0;
    for (uint32_t i = 0; i < run->merged->configurations_count; i++) {
        ns += (double)run->merged->configurations[i].measured.gpu_ns_total;
    }
    return run->timed && run->seconds > 0 &&
           ns >= threshold_gpu_busy_share * run->seconds * 1e9 * run->merged->devices_count;
}

static void say_process(const struct merged_process *process, struct sentence *sentence)
{
    if (process->rank >= 0) {
        say(sentence, "rank %d", process->rank);
    } else {
        say(sentence, "process %u", process->pid);
    }
}

/* Upper edge of the bucket in which the middle gap lies. */
static double median_gap_ns(const struct merged_process *process)
{
    uint64_t seen = 0;
    for (int bucket = 0; bucket < 24; bucket++) {
        seen += process->gap_histogram[bucket];
        if (seen * 2 >= process->gaps) {
            return exp2(bucket + 7);
        }
    }
    return INFINITY;
}

/* The times of the simulated driver's launch calls say nothing about a host with a GPU. */
void launch_bound_host_judge(const struct findings_run *run, const struct run_rule *rule)
{
    const struct merged *merged = run->merged;
    const struct merged_process *worst = NULL;
    uint32_t bound = 0;
    uint64_t launches = 0;
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        const struct merged_process *process = &merged->processes[i];
        if (is_launch_bound(process)) {
            bound++;
            launches += process->launches - process->graph_launches;
            worst = !worst || launch_call_share(process) > launch_call_share(worst) ? process : worst;
        }
    }
    if (!worst || any_simulated(merged) || gpu_is_busy(run)) {
        return;
    }
    struct finding_draft draft =
        draft_of(rule, launch_call_share(worst) >= 0.5 ? SEVERITY_HIGH : SEVERITY_MEDIUM);
    draft.launches = launches;
    say(&draft.evidence, "Launch calls take %s of the time of ", PERCENT(launch_call_share(worst)));
    say_process(worst, &draft.evidence);
    say(&draft.evidence, ", %s on average", DURATION(launch_call_mean_ns(worst)));
    if (worst->gaps && isfinite(median_gap_ns(worst))) {
        say(&draft.evidence, "; half of the gaps between them are shorter than %s",
            DURATION(median_gap_ns(worst)));
    }
    if (bound > 1) {
        say(&draft.evidence, " (%s in all)", PLURAL(bound, "process"));
    }
    say(&draft.evidence, ".");
    say(&draft.advice,
        "Replay the repeating part as a CUDA graph, fuse small kernels, or give each launch more work.");
    finding_add(run, &draft);
}

/* --- ranks --------------------------------------------------------------------------------------------- */

static double oddness(const struct merged_odd_rank *odd)
{
    return fabs((double)odd->launches - (double)odd->usual);
}

static void odd_rank_report(const struct findings_run *run, const struct run_rule *rule,
                            const struct merged_odd_rank *oddest, uint32_t kernels)
{
    const struct merged *merged = run->merged;
    struct finding_draft draft = draft_of(rule, SEVERITY_MEDIUM);
    draft.kernel = oddest->kernel;
    draft.launches = oddest->launches;
    const struct merged_process *process = &merged->processes[oddest->process];
    struct sentence who = {.bytes = 0};
    say_process(process, &who);
    say(&draft.evidence, "%s on %s launched %s %s times, %u other ranks %s times", who.text,
        NAME(process->host), NAME(merged->kernels[oddest->kernel].short_name), COUNT(oddest->launches),
        oddest->usual_ranks, COUNT(oddest->usual));
    if (kernels > 1) {
        say(&draft.evidence, "; %s differ in all", PLURAL(kernels, "kernel"));
    }
    say(&draft.evidence, ".");
    say(&draft.advice,
        "Compare the input and the code path of %s with another's: ranks that wait for each other run "
        "at the pace of the slowest.",
        who.text);
    finding_add(run, &draft);
}

void odd_rank_judge(const struct findings_run *run, const struct run_rule *rule)
{
    const struct merged *merged = run->merged;
    unsigned named = 0;
    for (uint32_t i = 0; i < merged->odd_ranks_count && named < threshold_kernels_named;) {
        const struct merged_odd_rank *oddest = &merged->odd_ranks[i];
        uint32_t first = i;
        for (; i < merged->odd_ranks_count && merged->odd_ranks[i].process == oddest->process; i++) {
            oddest = oddness(&merged->odd_ranks[i]) > oddness(oddest) ? &merged->odd_ranks[i] : oddest;
        }
        odd_rank_report(run, rule, oddest, i - first);
        named++;
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

static const struct merged_configuration *largest(const struct findings_run *run)
{
    const struct merged *merged = run->merged;
    const struct merged_configuration *largest = NULL;
    double most = 0;
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        double share = share_of_run(run, &merged->configurations[i]);
        if (share > most) {
            most = share;
            largest = &merged->configurations[i];
        }
    }
    return largest;
}

void dominated_by_one_configuration_judge(const struct findings_run *run, const struct run_rule *rule)
{
    const struct merged *merged = run->merged;
    const struct merged_configuration *first = largest(run);
    if (!first || merged->configurations_count < threshold_dominant_of) {
        return;
    }
    double share = share_of_run(run, first);
    if (share < (run->timed ? threshold_dominant_gpu_time : threshold_dominant_launches)) {
        return;
    }
    struct finding_draft draft = draft_of(rule, SEVERITY_NOTE);
    draft.kernel = first->kernel;
    draft.configuration = (uint32_t)(first - merged->configurations);
    draft.launches = first->launches;
    say(&draft.evidence, "%s of %s are of this one of %s configurations.", PERCENT(share),
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
    struct finding_draft draft = draft_of(rule, SEVERITY_HIGH);
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
    struct finding_draft draft = draft_of(rule, SEVERITY_NOTE);
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
    struct finding_draft draft = draft_of(rule, SEVERITY_NOTE);
    draft.launches = merged->totals.further;
    say(&draft.evidence,
        "%s came after the limit of configurations: they are counted by kernel, without shape.",
        PLURAL(merged->totals.further, "launch"));
    say(&draft.advice, "Set WARPWATCH_FILTER to the kernels that matter, so that theirs are told apart.");
    finding_add(run, &draft);
}
