/* A loop of launches shows in two things that a store keeps of each configuration: what most often came next,
 * and how often it was launched. Configurations linked by the first make a group; it is a loop if their
 * launches are whole multiples of the rarest one's, for a layer norm that occurs four times in a step is
 * launched four times as often as the step repeats. Equal devices count as one. */
#include "sequences.h"

#include <math.h>
#include <stdlib.h>

#include "store/labels.h"

struct group {
    uint32_t head;      /* of a forest: groups of the same root belong together */
    uint32_t successor; /* group that most often comes next, or MERGED_NONE */
    uint64_t votes;     /* for that */
    uint64_t launches;  /* direct ones, over all equal devices */
    uint64_t by_graph;
    bool small, spoken;
};

struct search {
    const struct findings_run *run;
    struct group *groups; /* by configuration; only the first of equal ones is a group */
    uint32_t *members;    /* groups in order of their roots */
};

/* One launch of it leaves most of the GPU idle. */
static bool is_small(const struct findings_run *run, const struct merged_configuration *configuration)
{
    struct subject subject = subject_of(run, configuration);
    bool sub_wave = (configuration->judged.valid & JUDGED_WAVES) &&
                    configuration->judged.tail_waste >= threshold_sub_wave_idle &&
                    configuration->judged.waves < 1;
    return !subject_excused(&subject) && (sub_wave || subject_is_tiny(&subject));
}

static void groups_fill(struct search *search)
{
    const struct merged *merged = search->run->merged;
    const uint32_t *first = search->run->first_of_equal;
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        search->groups[i] = (struct group){.head = i, .successor = MERGED_NONE};
    }
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        const struct merged_configuration *configuration = &merged->configurations[i];
        struct group *group = &search->groups[first[i]];
        group->launches += configuration->launches - configuration->graph_launches;
        group->by_graph += configuration->graph_launches;
        group->small |= is_small(search->run, configuration);
        if (configuration->successor != MERGED_NONE &&
            (group->successor == MERGED_NONE || configuration->successor_votes > group->votes)) {
            group->successor = first[configuration->successor];
            group->votes = configuration->successor_votes;
        }
    }
}

static uint32_t root_of(struct group *groups, uint32_t at)
{
    while (groups[at].head != at) {
        at = groups[at].head = groups[groups[at].head].head;
    }
    return at;
}

static bool repeats(const struct group *group)
{
    return (double)group->launches >= threshold_sequence_repeats && group->by_graph < group->launches;
}

static void groups_link(struct search *search, uint32_t count)
{
    struct group *groups = search->groups;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = groups[i].successor;
        if (next != MERGED_NONE && repeats(&groups[i]) && repeats(&groups[next])) {
            uint32_t left = root_of(groups, i), right = root_of(groups, next);
            groups[left > right ? left : right].head = left > right ? right : left;
        }
    }
}

/* --- one candidate ------------------------------------------------------------------------------------- */

static uint64_t rarest(const struct search *search, const uint32_t *members, uint32_t count)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t launches = search->groups[members[i]].launches;
        least = launches < least ? launches : least;
    }
    return least;
}

/* A few launches more or less, before the loop and after it, are no objection. */
static bool is_loop(const struct search *search, const uint32_t *members, uint32_t count,
                    struct sequence *sequence)
{
    uint64_t repeats = rarest(search, members, count), small = 0;
    *sequence = (struct sequence){.members = members, .members_count = count, .repeats = repeats};
    for (uint32_t i = 0; i < count; i++) {
        const struct group *group = &search->groups[members[i]];
        double times = (double)group->launches / (double)repeats;
        if (fabs(times - round(times)) > threshold_sequence_tolerance) {
            return false;
        }
        sequence->length += (uint64_t)round(times);
        sequence->launches += group->launches;
        small += group->small ? group->launches : 0;
    }
    return sequence->length >= SEQUENCE_LEAST && sequence->length <= SEQUENCE_MOST &&
           small >= sequence->launches / 2;
}

/* Each followed by what mostly comes next, as far as that is still to be named. */
static void order_for_reading(struct search *search, uint32_t *members, uint32_t count)
{
    uint32_t ordered = 0;
    for (uint32_t start = 0; ordered < count; start = ordered) {
        for (uint32_t next = members[start]; next != MERGED_NONE && !search->groups[next].spoken;) {
            uint32_t at = ordered;
            while (at < count && members[at] != next) {
                at++;
            }
            if (at == count) {
                break;
            }
            members[at] = members[ordered];
            members[ordered++] = next;
            search->groups[next].spoken = true;
            next = search->groups[next].successor;
        }
    }
}

/* Members in order of their roots, each root's in a row: by counting. Returns how many there are. */
static uint32_t members_gather(struct search *search, uint32_t count, uint32_t *ends)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        ends[root_of(search->groups, i)] += repeats(&search->groups[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t members = ends[i];
        ends[i] = total;
        total += members;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (repeats(&search->groups[i])) {
            search->members[ends[root_of(search->groups, i)]++] = i;
        }
    }
    return total;
}

static void candidates_visit(struct search *search, uint32_t total, sequence_visitor *visit, void *context)
{
    for (uint32_t first = 0, next; first < total; first = next) {
        uint32_t *members = search->members + first, root = root_of(search->groups, members[0]);
        for (next = first; next < total && root_of(search->groups, search->members[next]) == root; next++) {
        }
        struct sequence sequence;
        if (next - first >= SEQUENCE_LEAST && next - first <= SEQUENCE_MOST &&
            is_loop(search, members, next - first, &sequence)) {
            order_for_reading(search, members, next - first);
            visit(&sequence, context);
        }
    }
}

bool sequences_find(const struct findings_run *run, sequence_visitor *visit, void *context)
{
    uint32_t count = run->merged->configurations_count;
    struct search search = {run, calloc((size_t)count + 1, sizeof *search.groups),
                            calloc((size_t)count + 1, sizeof *search.members)};
    uint32_t *ends = calloc((size_t)count + 1, sizeof *ends);
    bool held = search.groups && search.members && ends;
    if (held) {
        groups_fill(&search);
        groups_link(&search, count);
        candidates_visit(&search, members_gather(&search, count, ends), visit, context);
    }
    free(search.groups);
    free(search.members);
    free(ends);
    return held;
}
