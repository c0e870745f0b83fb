/* Sums up graphs and finds equal ones by content. */
#include "bodies.h"

#include <string.h>

#include "index.h"
#include "memory.h"
#include "shard.h"

enum { MOST_NODES = 1 << 20 };

static uint32_t hash_part(uint32_t target, bool beside)
{
    return ((target + beside) * 0x9e3779b1u) >> 5;
}

static uint64_t parts_bytes(const struct body_sum *sum)
{
    return ((uint64_t)sum->mask + 1) * sizeof *sum->parts;
}

bool body_sum_open(struct body_sum *sum, uint32_t nodes)
{
    uint32_t slots = 64;
    while (slots < nodes * 2) {
        slots *= 2;
    }
    *sum = (struct body_sum){.mask = slots - 1, .whole = true};
    sum->parts = memory_map(parts_bytes(sum));
    if (sum->parts == NULL) {
        return false;
    }
    memset(sum->parts, 0xff, parts_bytes(sum));
    return true;
}

void body_sum_close(struct body_sum *sum)
{
    memory_unmap(sum->parts, parts_bytes(sum));
}

void body_sum_add(struct body_sum *sum, const struct resolved *resolved, bool beside)
{
    if (resolved->kernel == STORE_NO_TARGET) {
        recorder_lost(1, STORE_LOSS_NO_SPACE);
        sum->whole = false;
        return;
    }
    bool further = resolved->configuration == STORE_NO_TARGET;
    uint32_t target = further ? STORE_TARGET(STORE_FURTHER_GRAPH, resolved->kernel)
                              : STORE_TARGET(STORE_GRAPH_DIRECT, resolved->configuration);
    sum->whole = sum->whole && !further;
    uint32_t i = hash_part(target, beside) & sum->mask;
    while (sum->parts[i].target != STORE_NO_TARGET &&
           (sum->parts[i].target != target || sum->parts[i].beside != beside)) {
        i = (i + 1) & sum->mask;
    }
    bool fresh = sum->parts[i].target == STORE_NO_TARGET;
    sum->parts[i] = (struct body_part){target, fresh ? 1 : sum->parts[i].times + 1, beside};
    sum->count += fresh;
    sum->beside += fresh && beside;
}

static bool goes_behind(const struct body_part *part, const struct body_part *other)
{
    return part->beside == other->beside ? part->target > other->target : part->beside;
}

/* The parts move to the front, in the order of their targets, and behind them those that run beside others:
 * equal sums look equal. */
static void pack(struct body_sum *sum)
{
    uint32_t filled = 0;
    for (uint32_t i = 0; i <= sum->mask && filled < sum->count; i++) {
        if (sum->parts[i].target != STORE_NO_TARGET) {
            sum->parts[filled++] = sum->parts[i];
        }
    }
    for (uint32_t gap = sum->count / 2; gap; gap /= 2) {
        for (uint32_t i = gap; i < sum->count; i++) {
            struct body_part part = sum->parts[i];
            uint32_t j = i;
            for (; j >= gap && goes_behind(&sum->parts[j - gap], &part); j -= gap) {
                sum->parts[j] = sum->parts[j - gap];
            }
            sum->parts[j] = part;
        }
    }
}

static bool same_body(uint32_t number, const void *wanted)
{
    const struct body_sum *sum = wanted;
    const struct store_body *body = store_record(STORE_BODIES, number);
    if (body->nodes != sum->count || body->beside != sum->beside ||
        (body->order_check != 0) != sum->order_known ||
        memcmp(body->uncounted, sum->uncounted, sizeof body->uncounted) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct store_node *node = store_record(STORE_NODES, body->first_node + i);
        if (node->configuration != STORE_TARGET_INDEX(sum->parts[i].target) ||
            node->times != sum->parts[i].times) {
            return false;
        }
    }
    return true;
}

static uint32_t hash_node(uint32_t hash, uint32_t configuration, uint32_t times)
{
    uint32_t pair[2] = {configuration, times};
    return index_hash(pair, sizeof pair, hash);
}

static uint32_t hash_body(uint32_t number)
{
    const struct store_body *body = store_record(STORE_BODIES, number);
    uint32_t hash = index_hash(body->uncounted, sizeof body->uncounted, body->nodes + body->beside);
    for (uint32_t i = 0; i < body->nodes; i++) {
        const struct store_node *node = store_record(STORE_NODES, body->first_node + i);
        hash = hash_node(hash, node->configuration, node->times);
    }
    return hash;
}

static uint32_t hash_sum(const struct body_sum *sum)
{
    uint32_t hash = index_hash(sum->uncounted, sizeof sum->uncounted, sum->count + sum->beside);
    for (uint32_t i = 0; i < sum->count; i++) {
        hash = hash_node(hash, STORE_TARGET_INDEX(sum->parts[i].target), sum->parts[i].times);
    }
    return hash;
}

static struct index bodies = {.hash_of = hash_body, .equal = same_body};

void bodies_close(void)
{
    index_clear(&bodies);
}

static uint32_t add(const struct body_sum *sum)
{
    struct store_body body = {
        .first_node = store_count(STORE_NODES), .nodes = sum->count, .beside = sum->beside};
    memcpy(body.uncounted, sum->uncounted, sizeof body.uncounted);
    if (store_count(STORE_BODIES) >= BODIES_MOST || store_count(STORE_NODES) + sum->count > MOST_NODES) {
        return STORE_NO_TARGET;
    }
    for (uint32_t i = 0; i < sum->count; i++) {
        struct store_node node = {STORE_TARGET_INDEX(sum->parts[i].target), sum->parts[i].times};
        if (store_add(STORE_NODES, &node) == STORE_NO_TARGET) {
            return STORE_NO_TARGET;
        }
    }
    body.check = store_check(&body, offsetof(struct store_body, check));
    body.order_check = sum->order_known ? store_order_check(&body) : 0;
    return store_add(STORE_BODIES, &body);
}

uint32_t bodies_find_or_add(struct body_sum *sum)
{
    pack(sum);
    if (!sum->whole) {
        return STORE_NO_TARGET;
    }
    uint32_t hash = hash_sum(sum);
    recorder_lock_take();
    uint32_t number = index_find(&bodies, hash, sum);
    if (number == INDEX_NONE) {
        number = add(sum);
        if (number != STORE_NO_TARGET) {
            index_insert(&bodies, hash, number);
        }
    }
    recorder_lock_give();
    return number;
}

void body_sum_count_singly(struct body_sum *sum)
{
    pack(sum); /* a sum that is not kept as a body has not been */
    for (uint32_t i = 0; i < sum->count; i++) {
        shard_add(sum->parts[i].target, sum->parts[i].times);
    }
    for (uint32_t reason = 0; reason < 3; reason++) {
        if (sum->uncounted[reason]) {
            shard_add(STORE_TARGET(STORE_UNCOUNTED, reason), sum->uncounted[reason]);
        }
    }
    struct store_header *header = store_header();
    if (header) {
        atomic_fetch_add_explicit((_Atomic uint64_t *)&header->bodies_refused, 1, memory_order_relaxed);
    }
}
