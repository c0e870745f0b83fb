/* Lifting limits, by search with the model itself: what it proposes, the model confirms. */
#include "model/lift.h"

enum {
    WARP_LANES = 32,
    THREAD_REGISTERS_UNIT = 8, /* a warp's 256, by thread */
    CARVEOUT_ALL = 100
};

const char *const lift_names[LIFT_KINDS] = {"registers", "shared_memory", "barriers", "carveout", "threads"};

static int blocks_of(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                     struct occupancy *result)
{
    return occupancy_compute(sm, launch, result) == OCCUPANCY_OK ? result->blocks_per_sm : -1;
}

static int shared_bytes(const struct occupancy_launch *launch)
{
    return launch->static_shared_bytes + launch->dynamic_shared_bytes;
}

static void change(struct occupancy_launch *launch, struct lift_change to)
{
    switch (to.what) {
    case LIFT_REGISTERS:
        launch->registers_per_thread = to.to;
        break;
    case LIFT_SHARED_MEMORY: /* dynamic memory goes first */
        launch->static_shared_bytes =
            to.to < launch->static_shared_bytes ? to.to : launch->static_shared_bytes;
        launch->dynamic_shared_bytes = to.to - launch->static_shared_bytes;
        break;
    case LIFT_BARRIERS:
        launch->barriers = to.to;
        break;
    case LIFT_CARVEOUT:
        launch->carveout_percent = to.to;
        break;
    case LIFT_THREADS:
        launch->threads = to.to;
        break;
    }
}

/* The limit that the resource of `kind` alone sets after the change. */
static int limit_after(const struct occupancy_sm *sm, struct occupancy_launch launch, struct lift_change to)
{
    struct occupancy result;
    change(&launch, to);
    if (occupancy_compute(sm, &launch, &result) != OCCUPANCY_OK) {
        return -1;
    }
    switch (to.what) {
    case LIFT_REGISTERS:
        return result.limit_registers;
    case LIFT_BARRIERS:
        return result.limit_barriers;
    case LIFT_SHARED_MEMORY:
    case LIFT_CARVEOUT:
        return result.limit_shared_memory;
    case LIFT_THREADS:
    default:
        return result.blocks_per_sm;
    }
}

/* The limit depends on whole units only, so after the first step the largest value of each is enough. */
static bool search_down(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                        enum lift_kind what, int from, int unit, int blocks, struct lift_change *found)
{
    for (int to = from; to >= 0; to = to > 0 ? (to - 1) / unit * unit : -1) {
        *found = (struct lift_change){what, to};
        if (limit_after(sm, *launch, *found) >= blocks) {
            return true;
        }
    }
    return false;
}

/* Here too: the last byte of each unit is enough. */
static bool search_shared(const struct occupancy_sm *sm, const struct occupancy_launch *launch, int blocks,
                          struct lift_change *found)
{
    int units = (shared_bytes(launch) + sm->shared_reserved_bytes) / sm->shared_unit_bytes;
    for (; units >= 0; units--) {
        int to = units * sm->shared_unit_bytes - sm->shared_reserved_bytes;
        *found = (struct lift_change){LIFT_SHARED_MEMORY, to};
        if (to >= 0 && to < shared_bytes(launch) && limit_after(sm, *launch, *found) >= blocks) {
            return true;
        }
    }
    return false;
}

static bool search_carveout(const struct occupancy_sm *sm, const struct occupancy_launch *launch, int blocks,
                            struct lift_change *found)
{
    for (int to = launch->carveout_percent + 1; launch->carveout_percent >= 0 && to <= CARVEOUT_ALL; to++) {
        *found = (struct lift_change){LIFT_CARVEOUT, to};
        if (limit_after(sm, *launch, *found) >= blocks) {
            return true;
        }
    }
    return false;
}

static bool search(const struct occupancy_sm *sm, const struct occupancy_launch *launch, enum lift_kind what,
                   int blocks, struct lift_change *found)
{
    switch (what) {
    case LIFT_REGISTERS:
        return search_down(sm, launch, what, launch->registers_per_thread - 1, THREAD_REGISTERS_UNIT, blocks,
                           found);
    case LIFT_SHARED_MEMORY:
        return search_shared(sm, launch, blocks, found);
    case LIFT_BARRIERS:
        return search_down(sm, launch, what, launch->barriers - 1, 1, blocks, found);
    case LIFT_CARVEOUT:
        return search_carveout(sm, launch, blocks, found);
    case LIFT_THREADS:
    default:
        return search_down(sm, launch, what, launch->threads - 1, WARP_LANES, blocks, found);
    }
}

/* Fills in what the changes give; false where they do not reach `blocks`. */
static bool conclude(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                     const struct occupancy *now, int blocks, struct lift *lift)
{
    struct occupancy_launch changed = *launch;
    struct occupancy result;
    for (int i = 0; i < lift->changes_count; i++) {
        change(&changed, lift->changes[i]);
    }
    lift->blocks_per_sm = blocks_of(sm, &changed, &result);
    lift->theoretical_occupancy = result.theoretical_occupancy;
    lift->helps = result.warps_per_sm > now->warps_per_sm;
    return lift->blocks_per_sm >= blocks;
}

static int lift_alone(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                      const struct occupancy *now, struct lift lifts[LIFTS_MAX])
{
    int count = 0;
    for (int what = LIFT_REGISTERS; what <= LIFT_CARVEOUT; what++) {
        struct lift *lift = &lifts[count];
        *lift = (struct lift){.changes_count = 1};
        if (search(sm, launch, (enum lift_kind)what, now->blocks_per_sm + 1, &lift->changes[0]) &&
            conclude(sm, launch, now, now->blocks_per_sm + 1, lift)) {
            count++;
        }
    }
    return count;
}

/* Each tied limit lifted as far as it must be. Threads and block slots cannot be lifted by resources. */
static int lift_together(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                         const struct occupancy *now, struct lift *lift)
{
    static const struct {
        enum occupancy_limiter limiter;
        enum lift_kind what;
    } remedies[] = {{LIMITER_REGISTERS, LIFT_REGISTERS},
                    {LIMITER_SHARED_MEMORY, LIFT_SHARED_MEMORY},
                    {LIMITER_BARRIERS, LIFT_BARRIERS}};
    *lift = (struct lift){.changes_count = 0};
    for (int i = 0; i < 3; i++) {
        if ((now->limiters & remedies[i].limiter) &&
            search(sm, launch, remedies[i].what, now->blocks_per_sm + 1,
                   &lift->changes[lift->changes_count])) {
            lift->changes_count++;
        }
    }
    return lift->changes_count > 1 && conclude(sm, launch, now, now->blocks_per_sm + 1, lift);
}

static int lift_by_smaller_block(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                                 const struct occupancy *now, struct lift *lift)
{
    *lift = (struct lift){.changes_count = 1};
    return search(sm, launch, LIFT_THREADS, now->blocks_per_sm + 1, &lift->changes[0]) &&
           conclude(sm, launch, now, now->blocks_per_sm + 1, lift);
}

static int distance(int a, int b)
{
    return a > b ? a - b : b - a;
}

static int lift_by_best_block(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                              const struct occupancy *now, struct lift *lift)
{
    struct occupancy_launch tried = *launch;
    struct occupancy result;
    int best = 0, best_warps = now->warps_per_sm;
    for (tried.threads = WARP_LANES; tried.threads <= sm->threads_per_block; tried.threads += WARP_LANES) {
        if (blocks_of(sm, &tried, &result) < 0 || result.warps_per_sm < best_warps) {
            continue;
        }
        bool better = result.warps_per_sm > best_warps;
        bool nearer = best && distance(tried.threads, launch->threads) < distance(best, launch->threads);
        if (better || nearer) {
            best = tried.threads;
            best_warps = result.warps_per_sm;
        }
    }
    *lift = (struct lift){.changes = {{LIFT_THREADS, best}}, .changes_count = 1};
    return best && conclude(sm, launch, now, 1, lift);
}

int lift_limits(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                struct lift lifts[LIFTS_MAX])
{
    struct occupancy now;
    if (blocks_of(sm, launch, &now) < 0) {
        return 0;
    }
    int count = lift_alone(sm, launch, &now, lifts);
    if (count == 0) {
        count += lift_together(sm, launch, &now, &lifts[count]);
    }
    int smaller_block = count;
    count += lift_by_smaller_block(sm, launch, &now, &lifts[count]);
    struct lift *best_block = &lifts[count];
    if (lift_by_best_block(sm, launch, &now, best_block) &&
        (count == smaller_block || best_block->changes[0].to != lifts[smaller_block].changes[0].to)) {
        count++;
    }
    return count;
}
