/* Rules about the grid: too few blocks, blocks that spill into another wave, blocks that do not fill warps.
 */
#include "rules.h"

#include <math.h>

#define LANES 32

static const struct verdict clear = {false, 0};

static bool waves_known(const struct subject *subject)
{
    return subject->judged->valid & JUDGED_WAVES;
}

static uint64_t threads_of(const struct subject *subject)
{
    const uint32_t *block = subject->configuration->block;
    return (uint64_t)block[0] * block[1] * block[2];
}

static uint64_t direct_launches(const struct subject *subject)
{
    return subject->configuration->launches - subject->configuration->graph_launches;
}

static struct verdict idle_slots(const struct subject *subject)
{
    return (struct verdict){true, subject->judged->tail_waste};
}

/* --- tiny launches ------------------------------------------------------------------------------------- */

static double rate_per_second(const struct subject *subject)
{
    double seconds = subject->run->seconds;
    return seconds > 0 ? (double)direct_launches(subject) / seconds : INFINITY;
}

static bool gpu_time_is_short(const struct subject *subject)
{
    const struct store_measurement *measured = &subject->configuration->measured;
    return (measured->valid & STORE_MEASURED_GPU_TIME) &&
           (double)measured->gpu_ns_median < threshold_tiny_gpu_ns;
}

static bool less_than_a_warp_an_sm(const struct subject *subject)
{
    const struct judgement *judged = subject->judged;
    return judged->sms > 0 && judged->blocks < judged->sms &&
           judged->blocks * judged->warps_per_block < judged->sms;
}

bool subject_is_tiny(const struct subject *subject)
{
    return !subject_excused(subject) && (double)direct_launches(subject) >= threshold_tiny_launches &&
           rate_per_second(subject) >= threshold_tiny_per_second &&
           (less_than_a_warp_an_sm(subject) || gpu_time_is_short(subject));
}

struct verdict tiny_launches_judge(const struct subject *subject)
{
    const struct findings_run *run = subject->run;
    bool in_sequence =
        run->in_sequence[run->first_of_equal[subject->configuration - run->merged->configurations]];
    if (in_sequence || !subject_is_tiny(subject)) {
        return clear;
    }
    return waves_known(subject) ? idle_slots(subject) : (struct verdict){true, 0};
}

void tiny_launches_evidence(const struct subject *subject, struct sentence *sentence)
{
    say(sentence, "%s of %s of %s", PLURAL(direct_launches(subject), "direct launch"),
        PLURAL(subject->judged->blocks, "block"), PLURAL(threads_of(subject), "thread"));
    if (isfinite(rate_per_second(subject))) {
        say(sentence, ", %s a second", COUNT((uint64_t)fmin(rate_per_second(subject), 1e18)));
    }
    if (gpu_time_is_short(subject)) {
        say(sentence, "; half of them run for %s or less",
            DURATION((double)subject->configuration->measured.gpu_ns_median));
    } else if (waves_known(subject)) {
        say(sentence, "; the GPU holds %s such blocks at once", COUNT(subject->judged->slots));
    }
    say(sentence, ".");
}

void tiny_launches_advice(const struct subject *subject, struct sentence *sentence)
{
    const struct merged *merged = subject->run->merged;
    uint32_t successor = subject->configuration->successor;
    bool clear_lead = subject->configuration->successor_votes >= direct_launches(subject) / 2;
    if (successor == MERGED_NONE || !clear_lead) {
        say(sentence, "Give one launch the work of many, or capture the loop around it in a CUDA graph.");
    } else if (&merged->configurations[successor] == subject->configuration) {
        say(sentence, "It mostly follows itself: let one launch with more blocks do the work of many.");
    } else {
        say(sentence, "Fuse it with %s, which mostly follows it, or let one launch do the work of many.",
            NAME(merged->kernels[merged->configurations[successor].kernel].short_name));
    }
}

/* --- less than one wave -------------------------------------------------------------------------------- */

static bool sub_wave(const struct subject *subject)
{
    return waves_known(subject) && subject->judged->waves < 1 && !subject_excused(subject) &&
           !subject_is_tiny(subject) && subject->judged->tail_waste >= threshold_sub_wave_idle;
}

struct verdict fewer_blocks_than_sms_judge(const struct subject *subject)
{
    return sub_wave(subject) && subject->judged->blocks < subject->judged->sms ? idle_slots(subject) : clear;
}

void fewer_blocks_than_sms_evidence(const struct subject *subject, struct sentence *sentence)
{
    const struct judgement *judged = subject->judged;
    say(sentence, "%s on %u SMs: %s without work.", PLURAL(judged->blocks, "block"), judged->sms,
        PLURAL(judged->sms - judged->blocks, "SM"));
}

/* The largest block size in whole warps that still gives every SM a block of the same threads; 0: none. */
static uint64_t block_size_for_all_sms(const struct subject *subject)
{
    uint64_t threads = subject->judged->blocks * threads_of(subject);
    uint64_t size = threads / subject->judged->sms / LANES * LANES;
    return size < threads_of(subject) ? size : 0;
}

void fewer_blocks_than_sms_advice(const struct subject *subject, struct sentence *sentence)
{
    uint64_t size = block_size_for_all_sms(subject);
    if (size) {
        say(sentence, "With blocks of %s the same work reaches every SM, as %s blocks.",
            PLURAL(size, "thread"), COUNT(subject->judged->blocks * threads_of(subject) / size));
    } else {
        say(sentence,
            "Split the work of a block over at least %u blocks, batch several launches into one, or run "
            "it on a stream beside other kernels.",
            subject->judged->sms);
    }
}

struct verdict fewer_blocks_than_slots_judge(const struct subject *subject)
{
    return sub_wave(subject) && subject->judged->blocks >= subject->judged->sms ? idle_slots(subject) : clear;
}

void fewer_blocks_than_slots_evidence(const struct subject *subject, struct sentence *sentence)
{
    const struct judgement *judged = subject->judged;
    say(sentence, "%s on %s slots (%u SMs × %u) are %s waves: %s of the slots stay empty.",
        PLURAL(judged->blocks, "block"), COUNT(judged->slots), judged->sms, judged->blocks_per_sm,
        WAVES(judged->waves), PERCENT(judged->tail_waste));
}

void fewer_blocks_than_slots_advice(const struct subject *subject, struct sentence *sentence)
{
    say(sentence,
        "Split the work into up to %s blocks, which all run at once, or run it on a stream beside "
        "another kernel.",
        COUNT(subject->judged->slots));
}

/* --- the tail ------------------------------------------------------------------------------------------ */

static bool has_tail(const struct subject *subject)
{
    return waves_known(subject) && subject->judged->full_waves >= 1 && !subject_excused(subject) &&
           !subject_is_tiny(subject) && !(subject->configuration->labels & LABEL_PROGRAMMATIC) &&
           subject->judged->tail_waste >= threshold_tail_idle;
}

static bool just_over(const struct subject *subject)
{
    return subject->judged->tail_fullness <= threshold_just_over_fullness;
}

static void tail_evidence(const struct subject *subject, struct sentence *sentence)
{
    const struct judgement *judged = subject->judged;
    uint64_t left = judged->blocks - judged->full_waves * judged->slots;
    say(sentence, "%s on %s slots are %s waves: the last one runs %s, and %s of all slots stay empty.",
        PLURAL(judged->blocks, "block"), COUNT(judged->slots), WAVES(judged->waves), PLURAL(left, "block"),
        PERCENT(judged->tail_waste));
}

struct verdict just_over_a_wave_judge(const struct subject *subject)
{
    return has_tail(subject) && just_over(subject) ? idle_slots(subject) : clear;
}

void just_over_a_wave_evidence(const struct subject *subject, struct sentence *sentence)
{
    tail_evidence(subject, sentence);
}

void just_over_a_wave_advice(const struct subject *subject, struct sentence *sentence)
{
    const struct judgement *judged = subject->judged;
    uint64_t fitting = judged->full_waves * judged->slots;
    double more = (double)(judged->blocks - fitting) / (double)fitting;
    say(sentence, "Launch %s blocks, %s, each with %s more of the work.", COUNT(fitting),
        PLURAL(judged->full_waves, "full wave"), PERCENT(more));
}

struct verdict tail_waste_judge(const struct subject *subject)
{
    return has_tail(subject) && !just_over(subject) ? idle_slots(subject) : clear;
}

void tail_waste_evidence(const struct subject *subject, struct sentence *sentence)
{
    tail_evidence(subject, sentence);
}

void tail_waste_advice(const struct subject *subject, struct sentence *sentence)
{
    const struct judgement *judged = subject->judged;
    say(sentence,
        "Launch a whole number of waves, %s or %s blocks, by a grid-stride loop, or use smaller blocks so "
        "that the last wave is short.",
        COUNT(judged->full_waves * judged->slots), COUNT((judged->full_waves + 1) * judged->slots));
}

/* --- whole warps --------------------------------------------------------------------------------------- */

struct verdict block_not_warp_multiple_judge(const struct subject *subject)
{
    const struct judgement *judged = subject->judged;
    if (judged->idle_lanes_per_block == 0 || (subject->configuration->labels & LABEL_COMMUNICATION)) {
        return clear;
    }
    double idle = (double)judged->idle_lanes_per_block / (LANES * (double)judged->warps_per_block);
    return (struct verdict){true, waves_known(subject) ? idle * (1 - judged->tail_waste) : 0};
}

void block_not_warp_multiple_evidence(const struct subject *subject, struct sentence *sentence)
{
    const struct judgement *judged = subject->judged;
    say(sentence, "%s are %s: %u of %u lanes never have a thread.", PLURAL(threads_of(subject), "thread"),
        PLURAL(judged->warps_per_block, "warp"), judged->idle_lanes_per_block,
        judged->warps_per_block * LANES);
}

void block_not_warp_multiple_advice(const struct subject *subject, struct sentence *sentence)
{
    uint64_t up = (uint64_t)subject->judged->warps_per_block * LANES, down = up - LANES;
    if (down) {
        say(sentence, "Use %s or %s threads a block.", COUNT(down), COUNT(up));
    } else {
        say(sentence, "Use %s threads a block.", COUNT(up));
    }
}
