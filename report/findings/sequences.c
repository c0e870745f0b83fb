/* Each configuration has at most one majority successor, so the successors form a graph in which a walk ends
 * in one cycle or nowhere. Every node is walked once: linear time. */
#include "sequences.h"

#include <stdlib.h>

enum { UNSEEN = 0 };

static uint64_t direct_launches(const struct merged_configuration *configuration)
{
    return configuration->launches - configuration->graph_launches;
}

/* Votes are the lead over all other successors together: half of the launches means three of four. */
static bool edge_is_clear(const struct merged_configuration *configuration)
{
    return configuration->successor != MERGED_NONE &&
           configuration->successor_votes >= direct_launches(configuration) / 2;
}

/* One launch of it leaves most of the GPU idle. */
static bool is_small(const struct findings_run *run, const struct merged_configuration *configuration)
{
    struct subject subject = subject_of(run, configuration);
    bool sub_wave = (configuration->judged.valid & JUDGED_WAVES) &&
                    configuration->judged.tail_waste >= threshold_sub_wave_idle &&
                    configuration->judged.waves < 1;
    return !subject_excused(&subject) && (sub_wave || subject_is_tiny(&subject));
}

static bool member_repeats(const struct merged_configuration *configuration)
{
    return (double)direct_launches(configuration) >= threshold_sequence_repeats &&
           configuration->graph_launches < configuration->launches / 2;
}

static bool sequence_measure(const struct findings_run *run, uint32_t first, struct sequence *sequence)
{
    const struct merged_configuration *configurations = run->merged->configurations;
    uint64_t most = 0, least = UINT64_MAX;
    uint32_t length = 0, small = 0, at = first;
    do {
        const struct merged_configuration *member = &configurations[at];
        uint64_t launches = direct_launches(member);
        if (!member_repeats(member) || ++length > SEQUENCE_MOST) {
            return false;
        }
        most = launches > most ? launches : most;
        least = launches < least ? launches : least;
        small += is_small(run, member);
        at = member->successor;
    } while (at != first);
    *sequence = (struct sequence){first, length, least};
    return length >= SEQUENCE_LEAST && small * 2 >= length && least >= most / 2;
}

/* Marks the walk from `start` with `mark`; returns where it closes a cycle of its own, else MERGED_NONE. */
static uint32_t walk(const struct merged *merged, uint32_t *marks, uint32_t start, uint32_t mark)
{
    uint32_t at = start;
    while (at != MERGED_NONE && marks[at] == UNSEEN) {
        const struct merged_configuration *configuration = &merged->configurations[at];
        marks[at] = mark;
        at = edge_is_clear(configuration) ? configuration->successor : MERGED_NONE;
    }
    return at != MERGED_NONE && marks[at] == mark ? at : MERGED_NONE;
}

bool sequences_find(const struct findings_run *run, sequence_visitor *visit, void *context)
{
    const struct merged *merged = run->merged;
    uint32_t *marks = calloc((size_t)merged->configurations_count + 1, sizeof *marks);
    if (!marks) {
        return false;
    }
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        uint32_t first = marks[i] == UNSEEN ? walk(merged, marks, i, i + 1) : MERGED_NONE;
        struct sequence sequence;
        if (first != MERGED_NONE && sequence_measure(run, first, &sequence)) {
            visit(&sequence, context);
        }
    }
    free(marks);
    return true;
}
