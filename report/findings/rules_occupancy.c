/* Rules about what stops one more block on an SM, with the next step that lets it in. */
#include <limits.h>

#include "model/lift.h"
#include "rules.h"
#include "store/judge.h"

static const struct verdict clear = {false, 0};

/* Of limits that tie, the first in this order names the finding: where threads or block slots bind, fewer
 * registers or bytes do not help by themselves. The evidence names them all. */
static const enum occupancy_limiter naming_order[] = {LIMITER_THREADS,   LIMITER_BLOCKS,
                                                      LIMITER_REGISTERS, LIMITER_SHARED_MEMORY,
                                                      LIMITER_BARRIERS,  LIMITER_DRIVER};

static enum occupancy_limiter naming_limiter(unsigned limiters)
{
    for (size_t i = 0; i < sizeof naming_order / sizeof *naming_order; i++) {
        if (limiters & naming_order[i]) {
            return naming_order[i];
        }
    }
    return 0;
}

/* A grid of less than one wave leaves room as it is: more would not be used. */
static bool occupancy_matters(const struct subject *subject)
{
    const struct judgement *judged = subject->judged;
    bool fills = !(judged->valid & JUDGED_WAVES) || judged->waves >= 1;
    return (judged->valid & JUDGED_OCCUPANCY) && judged->blocks_per_sm > 0 && fills &&
           !subject_excused(subject) && !subject_is_tiny(subject) &&
           judged->theoretical_occupancy < threshold_occupancy_enough;
}

static struct verdict limited_by(const struct subject *subject, enum occupancy_limiter limiter)
{
    const struct judgement *judged = subject->judged;
    if (!occupancy_matters(subject) || naming_limiter(judged->limiters) != limiter) {
        return clear;
    }
    double busy = judged->valid & JUDGED_WAVES ? 1 - judged->tail_waste : 0;
    return (struct verdict){true, (1 - judged->theoretical_occupancy) * threshold_empty_warp_weight * busy};
}

/* --- evidence ------------------------------------------------------------------------------------------ */

static uint32_t threads_of(const struct subject *subject)
{
    const uint32_t *block = subject->configuration->block;
    return block[0] * block[1] * block[2];
}

static void also_limits(const struct subject *subject, struct sentence *sentence)
{
    static const char *const words[LIMITER_KINDS] = {"threads",  "block slots", "registers", "shared memory",
                                                     "barriers", "cluster",     "driver"};
    unsigned others =
        subject->judged->limiters & ~(unsigned)(naming_limiter(subject->judged->limiters) | LIMITER_CLUSTER);
    const char *between = " (no more with ";
    for (unsigned bit = 0; bit < LIMITER_KINDS; bit++) {
        if (others & (1u << bit)) {
            say(sentence, "%s%s", between, words[bit]);
            between = " and ";
        }
    }
    say(sentence, "%s", others ? ")" : "");
}

/* "… let 2 blocks of 4 warps on an SM, 12.5 % of its warps (no more with shared memory)." */
static void blocks_allowed(const struct subject *subject, struct sentence *sentence)
{
    const struct judgement *judged = subject->judged;
    say(sentence, " let %s of %s on an SM, %s of its warps", PLURAL(judged->blocks_per_sm, "block"),
        PLURAL(judged->warps_per_block, "warp"), PERCENT(judged->theoretical_occupancy));
    also_limits(subject, sentence);
    say(sentence, ".");
}

void occupancy_registers_evidence(const struct subject *subject, struct sentence *sentence)
{
    say(sentence, "%s a thread", PLURAL(subject->kernel->registers_per_thread, "register"));
    blocks_allowed(subject, sentence);
}

void occupancy_shared_memory_evidence(const struct subject *subject, struct sentence *sentence)
{
    uint64_t fixed = subject->kernel->static_shared_bytes,
             dynamic = subject->configuration->dynamic_shared_bytes;
    say(sentence, "%s of shared memory a block", BYTES(fixed + dynamic));
    blocks_allowed(subject, sentence);
}

void occupancy_barriers_evidence(const struct subject *subject, struct sentence *sentence)
{
    say(sentence, "%s a block", PLURAL(subject->judged->barriers, "barrier"));
    blocks_allowed(subject, sentence);
}

void occupancy_block_slots_evidence(const struct subject *subject, struct sentence *sentence)
{
    say(sentence, "%u block slots of an SM", subject->judged->limit_blocks);
    blocks_allowed(subject, sentence);
}

void occupancy_block_size_evidence(const struct subject *subject, struct sentence *sentence)
{
    say(sentence, "Blocks of %s", PLURAL(threads_of(subject), "thread"));
    blocks_allowed(subject, sentence);
}

void occupancy_driver_evidence(const struct subject *subject, struct sentence *sentence)
{
    const struct judgement *judged = subject->judged;
    say(sentence,
        "The driver lets %s on an SM, %s of its warps; threads, registers and shared memory allow %u.",
        PLURAL(judged->blocks_per_sm, "block"), PERCENT(judged->theoretical_occupancy),
        judged->model_blocks_per_sm);
}

/* --- advice: the smallest change that the model confirms ------------------------------------------------ */

static void say_change(struct sentence *sentence, const struct lift_change *change)
{
    uint64_t to = (uint64_t)change->to;
    switch (change->what) {
    case LIFT_REGISTERS:
        say(sentence, "at most %s a thread", PLURAL(to, "register"));
        break;
    case LIFT_SHARED_MEMORY:
        say(sentence, "at most %s bytes of shared memory a block", COUNT(to));
        break;
    case LIFT_BARRIERS:
        say(sentence, "at most %s a block", PLURAL(to, "barrier"));
        break;
    case LIFT_CARVEOUT:
        say(sentence, "a shared-memory carve-out of %s %%", COUNT(to));
        break;
    case LIFT_THREADS:
        say(sentence, "blocks of %s", PLURAL(to, "thread"));
        break;
    }
}

static void say_lift(const struct subject *subject, struct sentence *sentence, const struct lift *lift)
{
    for (int i = 0; i < lift->changes_count; i++) {
        say(sentence, "%s", i ? " and " : "With ");
        say_change(sentence, &lift->changes[i]);
    }
    say(sentence, ", %s fit on an SM, %s of its warps", PLURAL((uint64_t)lift->blocks_per_sm, "block"),
        PERCENT(lift->theoretical_occupancy));
    if (lift->changes_count == 1 && lift->changes[0].what == LIFT_REGISTERS) {
        say(sentence, ": __launch_bounds__(%u, %d)", threads_of(subject), lift->blocks_per_sm);
    }
    say(sentence, ".");
}

static const struct lift *first_that_helps(const struct lift *lifts, int count)
{
    for (int i = 0; i < count; i++) {
        if (lifts[i].helps) {
            return &lifts[i];
        }
    }
    return NULL;
}

static void lift_advice(const struct subject *subject, struct sentence *sentence)
{
    struct occupancy_sm sm;
    struct occupancy_launch launch;
    struct lift lifts[LIFTS_MAX];
    const struct lift *lift = NULL;
    if (judge_inputs(subject->kernel, subject->configuration, subject->device, subject->judged->barriers, &sm,
                     &launch)) {
        lift = first_that_helps(lifts, lift_limits(&sm, &launch, lifts));
    }
    if (lift) {
        say_lift(subject, sentence, lift);
    } else {
        say(sentence,
            "No single change lets more warps in; see warpwatch model occupancy for what each limit allows.");
    }
}

/* Fewer registers are no gift to a kernel that spills. */
void occupancy_registers_advice(const struct subject *subject, struct sentence *sentence)
{
    lift_advice(subject, sentence);
    if (subject->kernel->local_bytes >= threshold_local_bytes) {
        sentence->bytes--; /* the full stop */
        say(sentence, "; measure it, for %s a thread are in local memory already.",
            BYTES(subject->kernel->local_bytes));
    }
}

struct verdict occupancy_registers_judge(const struct subject *subject)
{
    return limited_by(subject, LIMITER_REGISTERS);
}

#define LIMITED_RULE(function, limiter)                                                                      \
    struct verdict function##_judge(const struct subject *subject)                                           \
    {                                                                                                        \
        return limited_by(subject, limiter);                                                                 \
    }                                                                                                        \
    void function##_advice(const struct subject *subject, struct sentence *sentence)                         \
    {                                                                                                        \
        lift_advice(subject, sentence);                                                                      \
    }

LIMITED_RULE(occupancy_shared_memory, LIMITER_SHARED_MEMORY)
LIMITED_RULE(occupancy_barriers, LIMITER_BARRIERS)
LIMITED_RULE(occupancy_block_slots, LIMITER_BLOCKS)
LIMITED_RULE(occupancy_block_size, LIMITER_THREADS)

struct verdict occupancy_driver_judge(const struct subject *subject)
{
    return limited_by(subject, LIMITER_DRIVER);
}

void occupancy_driver_advice(const struct subject *subject, struct sentence *sentence)
{
    (void)subject;
    say(sentence, "Try another block size: the driver counts a resource that no documented limit names.");
}

/* --- local memory -------------------------------------------------------------------------------------- */

struct verdict local_memory_judge(const struct subject *subject)
{
    const struct merged_kernel *kernel = subject->kernel;
    bool applies = (kernel->valid & STORE_KERNEL_ATTRIBUTES) &&
                   kernel->local_bytes >= threshold_local_bytes &&
                   !(subject->configuration->labels & LABEL_COMMUNICATION);
    return (struct verdict){applies, 0};
}

void local_memory_evidence(const struct subject *subject, struct sentence *sentence)
{
    say(sentence,
        "%s a thread lie in local memory, beside %s: spilled registers, or arrays indexed at run time.",
        BYTES(subject->kernel->local_bytes), PLURAL(subject->kernel->registers_per_thread, "register"));
}

void local_memory_advice(const struct subject *subject, struct sentence *sentence)
{
    (void)subject;
    say(sentence,
        "Index small arrays with constants, or allow more registers (__launch_bounds__, -maxrregcount); "
        "ptxas -v tells spills from arrays.");
}
