/* Rules about processes: a host that cannot launch fast enough, a rank that launches something else. */
#include <math.h>
#include <stdlib.h>

#include "draft.h"

/* --- the host ------------------------------------------------------------------------------------------ */

/* Of the time from each thread's first launch call to its last: in the calls, or between them. */
static double launch_call_share(const struct merged_process *process)
{
    double calls = (double)process->launch_call_ns, between = (double)process->gap_ns;
    return (process->features & STORE_FEATURE_TIMES) && calls > 0 ? calls / (calls + between) : 0;
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
        finding_draft_of(rule, launch_call_share(worst) >= 0.5 ? SEVERITY_HIGH : SEVERITY_MEDIUM);
    draft.launches = launches;
    say(&draft.evidence, "Launch calls take %s of the launching time of ", PERCENT(launch_call_share(worst)));
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
    struct finding_draft draft = finding_draft_of(rule, SEVERITY_MEDIUM);
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
        "Compare its input and code path with another rank's: ranks that wait for each other run at "
        "the pace of the slowest.");
    finding_add(run, &draft);
}

struct rank_oddity {
    const struct merged_odd_rank *oddest; /* NULL: as the others */
    uint32_t kernels;
};

static struct rank_oddity *oddities_by_process(const struct merged *merged)
{
    struct rank_oddity *oddities = calloc((size_t)merged->processes_count + 1, sizeof *oddities);
    for (uint32_t i = 0; oddities && i < merged->odd_ranks_count; i++) {
        const struct merged_odd_rank *odd = &merged->odd_ranks[i];
        struct rank_oddity *oddity = &oddities[odd->process];
        oddity->kernels++;
        if (!oddity->oddest || oddness(odd) > oddness(oddity->oddest)) {
            oddity->oddest = odd;
        }
    }
    return oddities;
}

/* The process that differs most of those not yet named, or NULL. */
static struct rank_oddity *oddest_left(struct rank_oddity *oddities, uint32_t count)
{
    struct rank_oddity *oddest = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (oddities[i].oddest && (!oddest || oddness(oddities[i].oddest) > oddness(oddest->oddest))) {
            oddest = &oddities[i];
        }
    }
    return oddest;
}

void odd_rank_judge(const struct findings_run *run, const struct run_rule *rule)
{
    struct rank_oddity *oddities = oddities_by_process(run->merged), *oddest;
    if (!oddities) {
        *run->out_of_memory = true;
        return;
    }
    for (unsigned named = 0; named < threshold_kernels_named; named++) {
        oddest = oddest_left(oddities, run->merged->processes_count);
        if (!oddest) {
            break;
        }
        odd_rank_report(run, rule, oddest->oddest, oddest->kernels);
        oddest->oddest = NULL;
    }
    free(oddities);
}
