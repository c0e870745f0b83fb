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

/* A root whose group cannot be the whole loop: of a member that recurs, only one successor is known. */
struct part {
    uint32_t root, process;
    uint64_t rarest;
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

/* The strongest claim of any device stands, and is backed by those that say the same. */
static void vote(struct group *group, const struct merged_configuration *configuration, const uint32_t *first)
{
    if (configuration->successor == MERGED_NONE) {
        return;
    }
    uint32_t successor = first[configuration->successor];
    if (group->successor == successor) {
        group->votes += configuration->successor_votes;
    } else if (group->successor == MERGED_NONE || configuration->successor_votes > group->votes) {
        group->successor = successor;
        group->votes = configuration->successor_votes;
    }
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
        vote(group, configuration, first);
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

/* --- parts of one loop ---------------------------------------------------------------------------------- */

static bool is_ambiguous(const struct group *group)
{
    return group->successor != MERGED_NONE && group->votes < group->launches / 2;
}

static int by_process_then_rarest(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->process != b->process) {
        return a->process < b->process ? -1 : 1;
    }
    return a->rarest != b->rarest ? (a->rarest < b->rarest ? -1 : 1) : 0;
}

static uint32_t first_process(const struct merged *merged, uint32_t configuration)
{
    const struct merged_configuration *it = &merged->configurations[configuration];
    return it->shares ? merged->shares[it->first_share].process : 0;
}

/* `open`, by root: whether a member is ambiguous; `rarest`, by root: launches of the rarest member. */
static uint32_t parts_fill(struct search *search, uint32_t count, struct part *parts, uint64_t *rarest,
                           bool *open)
{
    uint32_t parts_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct group *group = &search->groups[i];
        uint32_t root = root_of(search->groups, i);
        if (repeats(group)) {
            open[root] |= is_ambiguous(group);
            rarest[root] = rarest[root] && rarest[root] < group->launches ? rarest[root] : group->launches;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (open[i]) {
            parts[parts_count++] = (struct part){i, first_process(search->run->merged, i), rarest[i]};
        }
    }
    return parts_count;
}

/* Parts of the same process that repeat equally often are one loop. */
static bool parts_join(struct search *search, uint32_t count)
{
    struct part *parts = malloc(((size_t)count + 1) * sizeof *parts);
    uint64_t *rarest = calloc((size_t)count + 1, sizeof *rarest);
    bool *open = calloc((size_t)count + 1, sizeof *open);
    bool held = parts && rarest && open;
    uint32_t parts_count = held ? parts_fill(search, count, parts, rarest, open) : 0;
    if (parts_count > 0) {
        qsort(parts, parts_count, sizeof *parts, by_process_then_rarest);
    }
    for (uint32_t i = 1; i < parts_count; i++) {
        double apart = (double)(parts[i].rarest - parts[i - 1].rarest);
        if (parts[i].process == parts[i - 1].process &&
            apart <= threshold_sequence_alike * (double)parts[i].rarest) {
            uint32_t left = root_of(search->groups, parts[i - 1].root),
                     right = root_of(search->groups, parts[i].root);
            search->groups[left > right ? left : right].head = left > right ? right : left;
        }
    }
    free(parts);
    free(rarest);
    free(open);
    return held;
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
        held = parts_join(&search, count);
    }
    if (held) {
        candidates_visit(&search, members_gather(&search, count, ends), visit, context);
    }
    free(search.groups);
    free(search.members);
    free(ends);
    return held;
}
