/* Rules that need the hardware's counters: they are silent about what was not measured. */
#include "rules.h"

#define LANES 32

static const struct verdict clear = {false, 0};

static const struct store_measurement *measured(const struct subject *subject, unsigned what)
{
    const struct store_measurement *measurement = &subject->configuration->measured;
    bool excused = subject->configuration->labels & LABEL_COMMUNICATION;
    return !excused && (measurement->valid & what) ? measurement : NULL;
}

/* Share of what the launches offered during which SMs had blocks. */
static double busy(const struct subject *subject)
{
    return subject->judged->valid & JUDGED_WAVES ? 1 - subject->judged->tail_waste : 0;
}

/* --- achieved occupancy -------------------------------------------------------------------------------- */

struct verdict achieved_below_theoretical_judge(const struct subject *subject)
{
    const struct store_measurement *counters = measured(subject, STORE_MEASURED_OCCUPANCY);
    const struct judgement *judged = subject->judged;
    bool fills = (judged->valid & JUDGED_WAVES) && judged->waves >= 1; /* else the grid explains it */
    double gap = counters ? judged->theoretical_occupancy - counters->achieved_occupancy : 0;
    if (!fills || gap < threshold_achieved_gap || subject_excused(subject)) {
        return clear;
    }
    return (struct verdict){true, gap * threshold_empty_warp_weight * busy(subject)};
}

void achieved_below_theoretical_evidence(const struct subject *subject, struct sentence *sentence)
{
    say(sentence, "%s of the SMs' warp slots were in use on average, where %s could be.",
        PERCENT(subject->configuration->measured.achieved_occupancy),
        PERCENT(subject->judged->theoretical_occupancy));
}

void achieved_below_theoretical_advice(const struct subject *subject, struct sentence *sentence)
{
    if (subject->judged->waves < 4) {
        say(sentence, "Few waves let SMs run dry at the end: use more and smaller blocks, and give each the "
                      "same work.");
    } else {
        say(sentence,
            "Blocks start or end unevenly: give each the same work, and more of it if they are short.");
    }
}

/* --- divergence ---------------------------------------------------------------------------------------- */

/* Lanes that have a thread: 100 threads in four warps can use 100 of 128. */
static double lanes_with_thread(const struct subject *subject)
{
    double lanes = LANES * (double)subject->judged->warps_per_block;
    return 1 - subject->judged->idle_lanes_per_block / lanes;
}

struct verdict divergence_judge(const struct subject *subject)
{
    const struct store_measurement *counters = measured(subject, STORE_MEASURED_LANES);
    double used = counters ? counters->lane_utilization / lanes_with_thread(subject) : 1;
    return used < threshold_lanes_enough ? (struct verdict){true, (1 - used) * busy(subject)} : clear;
}

void divergence_evidence(const struct subject *subject, struct sentence *sentence)
{
    const struct store_measurement *counters = &subject->configuration->measured;
    say(sentence, "%s of 32 lanes take part in the average instruction",
        DECIMAL(counters->lane_utilization * LANES));
    if (counters->valid & STORE_MEASURED_BRANCHES) {
        say(sentence, "; %s of the branches keep a warp together", PERCENT(counters->branch_efficiency));
    }
    say(sentence, ".");
}

void divergence_advice(const struct subject *subject, struct sentence *sentence)
{
    (void)subject;
    say(sentence, "Sort or group the work so that the 32 threads of a warp take the same path.");
}

/* --- memory access ------------------------------------------------------------------------------------- */

struct verdict uncoalesced_judge(const struct subject *subject)
{
    const struct store_measurement *counters = measured(subject, STORE_MEASURED_SECTORS);
    if (!counters || counters->sectors_per_request <= threshold_sectors_most) {
        return clear;
    }
    return (struct verdict){true,
                            (1 - threshold_sectors_most / counters->sectors_per_request) * busy(subject)};
}

void uncoalesced_evidence(const struct subject *subject, struct sentence *sentence)
{
    say(sentence,
        "The average request of a warp touches %s sectors of 32 bytes; neighbouring 4-byte elements need 4, "
        "16-byte ones 16.",
        DECIMAL(subject->configuration->measured.sectors_per_request));
}

void uncoalesced_advice(const struct subject *subject, struct sentence *sentence)
{
    (void)subject;
    say(sentence, "Let neighbouring threads read neighbouring elements: swap the loop's index order, store "
                  "structures as arrays, or transpose through shared memory.");
}

struct verdict bank_conflicts_judge(const struct subject *subject)
{
    const struct store_measurement *counters = measured(subject, STORE_MEASURED_BANKS);
    double conflicts = counters ? counters->bank_conflicts_per_request : 0;
    if (conflicts < threshold_conflicts_per_request) {
        return clear;
    }
    double waiting = conflicts / (1 + conflicts);
    return (struct verdict){true, waiting * threshold_empty_warp_weight * busy(subject)};
}

void bank_conflicts_evidence(const struct subject *subject, struct sentence *sentence)
{
    double conflicts = subject->configuration->measured.bank_conflicts_per_request;
    say(sentence, "The average shared-memory request takes %s passes instead of 1.", DECIMAL(1 + conflicts));
}

void bank_conflicts_advice(const struct subject *subject, struct sentence *sentence)
{
    (void)subject;
    say(sentence,
        "Pad the rows of the shared array by one element, or swizzle its index, so that the lanes of a "
        "warp fall on different banks.");
}
