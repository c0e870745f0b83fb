/* Judges every configuration by every rule, adds the verdicts up by kernel, keeps what is worth a reader's
 * time and ranks it by cost over the whole run. */
#include "findings.h"

#include <math.h>
#include <stdlib.h>

#include "draft.h"
#include "sequences.h"
#include "store/fold.h"
#include "store/labels.h"

const struct rule finding_rules[] = {
#define RULE(function, id, title, most_severe)                                                               \
    {id, title, most_severe, function##_judge, function##_evidence, function##_advice},
#define RUN_RULE(function, id, title)
#include "findings.def"
#undef RULE
#undef RUN_RULE
};
static const struct run_rule run_rules[] = {
#define RULE(function, id, title, most_severe)
#define RUN_RULE(function, id, title) {id, title, function##_judge},
#include "findings.def"
#undef RULE
#undef RUN_RULE
};
enum {
    RULES = sizeof finding_rules / sizeof *finding_rules,
    RUN_RULES = sizeof run_rules / sizeof *run_rules
};
const unsigned finding_rules_count = RULES;

/* What one rule found in the configurations of one kernel. */
struct claim {
    unsigned rule;
    uint32_t kernel, worst;  /* configuration */
    uint32_t configurations; /* equal devices as one */
    uint64_t launches;
    double cost, worst_cost;
    double concerned; /* what the launches offered, wasted or not */
};

struct claims {
    struct claim *items;
    size_t count, capacity;
};

/* --- the run ------------------------------------------------------------------------------------------- */

static struct findings_run run_of(struct merged *merged)
{
    const struct merged_totals *totals = &merged->totals;
    struct findings_run run = {.merged = merged, .timed = totals->gpu_times_complete};
    run.capacity = run.timed ? totals->taken_ns : totals->taken;
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        run.seconds = fmax(run.seconds, merged->processes[i].seconds);
    }
    return run;
}

/* --- findings ------------------------------------------------------------------------------------------ */

static enum finding_severity severity_of(const struct findings_run *run, const struct rule *rule, double cost)
{
    double share = finding_share(run, cost);
    enum finding_severity severity = share >= threshold_high_share     ? SEVERITY_HIGH
                                     : share >= threshold_medium_share ? SEVERITY_MEDIUM
                                                                       : SEVERITY_LOW;
    return severity > rule->most_severe ? severity : rule->most_severe;
}

static const char *triton_advice(unsigned rule)
{
    static const struct {
        void (*advice)(const struct subject *subject, struct sentence *sentence);
        const char *instead;
    } table[] = {
#define TRITON(function, advice) {function##_advice, advice},
#include "triton.def"
#undef TRITON
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].advice == finding_rules[rule].advice) {
            return table[i].instead;
        }
    }
    return NULL;
}

static void advise(const struct claim *claim, const struct subject *worst, struct sentence *sentence)
{
    const char *triton = worst->configuration->labels & LABEL_TRITON ? triton_advice(claim->rule) : NULL;
    if (triton) {
        say(sentence, "%s", triton);
    } else {
        finding_rules[claim->rule].advice(worst, sentence);
    }
}

static void claim_report(const struct findings_run *run, const struct claim *claim)
{
    const struct rule *rule = &finding_rules[claim->rule];
    struct subject worst = subject_of(run, &run->merged->configurations[claim->worst]);
    struct finding_draft draft = {.id = rule->id,
                                  .title = rule->title,
                                  .severity = severity_of(run, rule, claim->cost),
                                  .kernel = claim->kernel,
                                  .configuration = claim->worst,
                                  .launches = claim->launches,
                                  .cost = claim->cost};
    rule->evidence(&worst, &draft.evidence);
    if (claim->configurations > 1) {
        say(&draft.evidence, " So or similar in %s of its configurations.", COUNT(claim->configurations));
    }
    advise(claim, &worst, &draft.advice);
    finding_add(run, &draft);
}

/* Kernels that are not worth a line each, but together are. */
struct rest {
    unsigned rule;
    uint32_t kernels;
    uint64_t launches;
    double cost;
};

static void rest_report(const struct findings_run *run, const struct rest *rest)
{
    const struct rule *rule = &finding_rules[rest->rule];
    struct finding_draft draft = {.id = rule->id,
                                  .title = rule->title,
                                  .severity = severity_of(run, rule, rest->cost),
                                  .kernel = MERGED_NONE,
                                  .configuration = MERGED_NONE,
                                  .launches = rest->launches,
                                  .cost = rest->cost};
    say(&draft.evidence, "%s not named one by one lose %s of the run's SM time together.",
        PLURAL(rest->kernels, "kernel"), PERCENT(finding_share(run, rest->cost)));
    say(&draft.advice,
        "Look for what they have in common: a template or a launch helper, changed once, helps them all.");
    finding_add(run, &draft);
}

/* --- claims -------------------------------------------------------------------------------------------- */

static void claim_extend(struct claim *claim, const struct subject *subject, struct verdict verdict)
{
    double cost = verdict.fraction * subject->offered;
    uint32_t index = (uint32_t)(subject->configuration - subject->run->merged->configurations);
    bool further = claim->configurations == 0 || subject->run->first_of_equal[index] == index;
    if (claim->configurations == 0 || cost > claim->worst_cost) {
        claim->worst = index;
        claim->worst_cost = cost;
    }
    claim->configurations += further;
    claim->launches += subject->configuration->launches;
    claim->cost += cost;
    claim->concerned += subject->offered;
}

static void claims_add(const struct findings_run *run, struct claims *claims, const struct claim *claim)
{
    if (claims->count == claims->capacity) {
        size_t capacity = claims->capacity ? 2 * claims->capacity : 256;
        struct claim *grown = realloc(claims->items, capacity * sizeof *grown);
        if (!grown) {
            *run->out_of_memory = true;
            return;
        }
        claims->items = grown;
        claims->capacity = capacity;
    }
    claims->items[claims->count++] = *claim;
}

static void kernel_judge(const struct findings_run *run, struct claims *found, uint32_t index)
{
    const struct merged *merged = run->merged;
    const struct merged_kernel *kernel = &merged->kernels[index];
    struct claim claims[RULES] = {0};
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        struct subject subject = subject_of(run, &merged->configurations[kernel->first_configuration + i]);
        for (unsigned rule = 0; rule < RULES; rule++) {
            struct verdict verdict = finding_rules[rule].judge(&subject);
            if (verdict.applies) {
                claim_extend(&claims[rule], &subject, verdict);
            }
        }
    }
    for (unsigned rule = 0; rule < RULES; rule++) {
        if (claims[rule].configurations) {
            claims[rule].rule = rule;
            claims[rule].kernel = index;
            claims_add(run, found, &claims[rule]);
        }
    }
}

/* By rule, within a rule the costliest first. */
static int by_rule_then_cost(const void *left, const void *right)
{
    const struct claim *a = left, *b = right;
    if (a->rule != b->rule) {
        return a->rule < b->rule ? -1 : 1;
    }
    if (a->cost != b->cost) {
        return a->cost > b->cost ? -1 : 1;
    }
    if (a->concerned != b->concerned) {
        return a->concerned > b->concerned ? -1 : 1;
    }
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

/* Tiny launches cost in the host's time as well, so a share of all launches is reason enough. A rule without
 * costs of its own counts by what the kernel takes of the run. Where nothing is known of capacity, everything
 * is named. */
static bool worth_a_line(const struct findings_run *run, const struct claim *claim)
{
    double weight = claim->cost > 0 ? claim->cost : claim->concerned;
    bool many = finding_rules[claim->rule].judge == tiny_launches_judge &&
                (double)claim->launches >= threshold_reported_share * (double)run->merged->totals.launches;
    return many || run->capacity <= 0 || weight >= threshold_reported_share * run->capacity;
}

static void rule_report(const struct findings_run *run, const struct claim *claims, size_t count)
{
    struct rest rest = {.rule = claims->rule};
    double most = claims->cost > 0 ? threshold_kernels_named : threshold_kernels_named_without_cost;
    unsigned named = 0;
    for (size_t i = 0; i < count; i++) {
        if (worth_a_line(run, &claims[i]) && named < most) {
            claim_report(run, &claims[i]);
            named++;
        } else {
            rest.kernels++;
            rest.launches += claims[i].launches;
            rest.cost += claims[i].cost;
        }
    }
    if (run->capacity > 0 && rest.cost >= threshold_rest_share * run->capacity) {
        rest_report(run, &rest);
    }
}

static void claims_report(const struct findings_run *run, struct claims *claims)
{
    if (claims->count) {
        qsort(claims->items, claims->count, sizeof *claims->items, by_rule_then_cost);
    }
    for (size_t first = 0, next; first < claims->count; first = next) {
        for (next = first; next < claims->count && claims->items[next].rule == claims->items[first].rule;
             next++) {
        }
        rule_report(run, &claims->items[first], next - first);
    }
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static void mark_members(const struct sequence *sequence, void *context)
{
    bool *in_sequence = context;
    for (uint32_t i = 0; i < sequence->members_count; i++) {
        in_sequence[sequence->members[i]] = true;
    }
}

static bool comes_before(const struct merged_finding *a, const struct merged_finding *b)
{
    return a->cost != b->cost ? a->cost > b->cost : a->severity < b->severity;
}

/* Costliest first; of equal cost the more severe, then as findings.def has them: a stable sort of a few. */
static void findings_sort(struct merged *merged)
{
    for (uint32_t i = 1; i < merged->findings_count; i++) {
        struct merged_finding moving = merged->findings[i];
        uint32_t to = i;
        for (; to > 0 && comes_before(&moving, &merged->findings[to - 1]); to--) {
            merged->findings[to] = merged->findings[to - 1];
        }
        merged->findings[to] = moving;
    }
}

static void run_judge(const struct findings_run *run)
{
    struct claims claims = {.count = 0};
    for (uint32_t i = 0; i < run->merged->kernels_count; i++) {
        kernel_judge(run, &claims, i);
    }
    claims_report(run, &claims);
    free(claims.items);
    for (size_t i = 0; i < RUN_RULES; i++) {
        run_rules[i].judge(run, &run_rules[i]);
    }
}

bool findings_compute(struct merged *merged)
{
    bool out_of_memory = false;
    bool *in_sequence = calloc((size_t)merged->configurations_count + 1, sizeof *in_sequence);
    struct findings_run run = run_of(merged);
    uint32_t *first_of_equal = fold_representatives(merged);
    run.in_sequence = in_sequence;
    run.first_of_equal = first_of_equal;
    run.out_of_memory = &out_of_memory;
    if (in_sequence && first_of_equal && sequences_find(&run, mark_members, in_sequence)) {
        run_judge(&run);
        findings_sort(merged);
    } else {
        out_of_memory = true;
    }
    free(in_sequence);
    free(first_of_equal);
    return !out_of_memory;
}
