/* Which launches may share the GPU with others: those outside the stream that most launches of their process
 * and device go into, and all of them where there is no such stream. */
#include <stdlib.h>

#include "incoming.h"

enum { STREAMS_MOST = 64 }; /* told apart; the launches of others are in no main stream */

struct tally {
    uint32_t device, mark;
    uint64_t launches;
};

struct tallies {
    struct tally streams[STREAMS_MOST];
    uint32_t count;
};

/* By configuration of the store: the stream that leads, by how much, and out of how many launches. */
struct lead {
    uint32_t mark;
    uint64_t votes, launches;
};

static uint64_t votes_of(const struct store_counter *counter)
{
    uint32_t votes = counter->stream & STORE_STREAM_VOTES;
    return votes == STORE_STREAM_VOTES || votes > counter->launches ? counter->launches : votes;
}

/* The majority vote goes on over the counters of several threads. */
static void lead_add(struct lead *lead, uint32_t mark, uint64_t votes, uint64_t launches)
{
    lead->launches = merge_sum(lead->launches, launches);
    if (lead->mark == mark) {
        lead->votes = merge_sum(lead->votes, votes);
    } else if (votes > lead->votes) {
        lead->mark = mark;
        lead->votes = votes - lead->votes;
    } else {
        lead->votes -= votes;
    }
}

static void tally_add(struct tallies *tallies, uint32_t device, uint32_t mark, uint64_t launches)
{
    uint32_t at = 0;
    while (at < tallies->count &&
           (tallies->streams[at].device != device || tallies->streams[at].mark != mark)) {
        at++;
    }
    if (at == tallies->count && at < STREAMS_MOST) {
        tallies->streams[tallies->count++] = (struct tally){device, mark, 0};
    }
    if (at < tallies->count) {
        tallies->streams[at].launches = merge_sum(tallies->streams[at].launches, launches);
    }
}

/* The stream that more than half of the device's launches go into; 0: none. */
static uint32_t main_stream(const struct tallies *tallies, uint32_t device, uint64_t launches)
{
    for (uint32_t i = 0; i < tallies->count; i++) {
        const struct tally *tally = &tallies->streams[i];
        if (tally->device == device && tally->launches > launches / 2) {
            return tally->mark;
        }
    }
    return 0;
}

static bool counts_streams(const struct incoming *in, const struct store_counter *counter)
{
    uint32_t index = STORE_TARGET_INDEX(counter->target);
    return counter->stream != 0 && STORE_TARGET_KIND(counter->target) <= STORE_RUNTIME &&
           index < in->configurations.count && in->configurations_to[index] != MERGED_NONE;
}

static void counters_in(struct incoming *in, struct lead *leads, struct tallies *tallies, uint64_t *by_device)
{
    const struct store_counter *counters = in->counters.records;
    for (uint32_t i = 0; i < in->counters.count; i++) {
        if (!counts_streams(in, &counters[i])) {
            continue;
        }
        uint32_t index = STORE_TARGET_INDEX(counters[i].target),
                 mark = counters[i].stream & ~STORE_STREAM_VOTES,
                 device = in->merged->configurations[in->configurations_to[index]].device;
        uint64_t votes = votes_of(&counters[i]);
        lead_add(&leads[index], mark, votes, counters[i].launches);
        tally_add(tallies, device, mark, votes);
        by_device[device] = merge_sum(by_device[device], counters[i].launches);
    }
}

/* Launches of it that may share the GPU. */
static uint64_t beside_others(const struct tallies *tallies, uint32_t device, const uint64_t *by_device,
                              const struct lead *lead)
{
    uint32_t main = main_stream(tallies, device, by_device[device]);
    bool in_main = main && lead->mark == main && lead->votes > lead->launches / 2;
    return in_main ? 0 : lead->launches;
}

bool incoming_streams(struct incoming *in)
{
    struct tallies tallies = {.count = 0};
    struct lead *leads = calloc((size_t)in->configurations.count + 1, sizeof *leads);
    uint64_t *by_device = calloc((size_t)in->merged->devices_count + 1, sizeof *by_device);
    bool held = leads && by_device;
    if (held) {
        counters_in(in, leads, &tallies, by_device);
    }
    for (uint32_t i = 0; held && i < in->configurations.count; i++) {
        if (leads[i].launches > 0) {
            struct merged_configuration *configuration =
                &in->merged->configurations[in->configurations_to[i]];
            uint64_t beside = beside_others(&tallies, configuration->device, by_device, &leads[i]);
            configuration->beside_others = merge_sum(configuration->beside_others, beside);
        }
    }
    free(leads);
    free(by_device);
    return held;
}
