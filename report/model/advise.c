/* Advice on block sizes: one row a size, and the rule that picks one. */
#include "model/advise.h"

#include <math.h>

#include "model/waves.h"

enum {
    WARP_LANES = 32,
    USUAL_THREADS = 256 /* where nothing else decides: enough warps to share, small enough to schedule */
};
static const double enough_share = 0.75;
static const double same_excess =
    0.05; /* the model does not see finer: blocks do not all take the same time */

const int advise_sizes[ADVISE_SIZES] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};

const char *const advise_rule = "enough warps first, then the most even load: of the sizes that keep enough "
                                "warps on an SM (what --latency and "
                                "--instructions-between-stalls ask for, else three quarters of the most that "
                                "any size reaches), take the one "
                                "whose busiest SM does least beyond an equal share; within five percentage "
                                "points the one with more warps, "
                                "then the one nearest to 256 threads";

int advise_warps_needed(const struct occupancy_sm *sm, const struct advise_work *work)
{
    if (!(work->latency_cycles > 0) || !(work->instructions_between_stalls > 0)) {
        return 0;
    }
    double needed = ceil(work->latency_cycles * sm->sub_partitions / work->instructions_between_stalls);
    return needed < 1 ? 1 : needed > 1e6 ? 1000000 : (int)needed;
}

/* Blocks are handed out evenly, idle lanes and surplus threads count as load. */
static double excess(const struct advise_row *row, uint64_t elements, unsigned sms)
{
    uint64_t busiest_blocks = row->blocks / sms + (row->blocks % sms != 0);
    double busiest_lanes = (double)busiest_blocks * row->occupancy.warps_per_block * WARP_LANES;
    return busiest_lanes * sms / (double)elements - 1;
}

enum occupancy_error advise_row(const struct occupancy_sm *sm, unsigned sms, const struct advise_work *work,
                                int threads, struct advise_row *row)
{
    const struct occupancy_launch launch = {.threads = threads,
                                            .registers_per_thread = work->registers_per_thread,
                                            .static_shared_bytes = work->static_shared_bytes,
                                            .dynamic_shared_bytes = work->shared_per_thread_bytes * threads,
                                            .carveout_percent = -1,
                                            .max_dynamic_shared_bytes = -1};
    *row = (struct advise_row){.threads = threads};
    enum occupancy_error error = occupancy_compute(sm, &launch, &row->occupancy);
    if (error != OCCUPANCY_OK) {
        return error;
    }
    const uint64_t per_block = (uint64_t)threads;
    row->blocks = work->elements / per_block + (work->elements % per_block != 0);
    row->surplus_threads = row->blocks * per_block - work->elements;
    row->uncovered_one_short = per_block - row->surplus_threads;
    row->idle_lanes_per_block = waves_idle_lanes_per_block((unsigned)threads);
    const struct waves waves = waves_compute(row->blocks, sms, (unsigned)row->occupancy.blocks_per_sm);
    row->slots = waves.slots;
    row->waves = waves.waves;
    row->tail_waste = waves.tail_waste;
    row->excess = excess(row, work->elements, sms);
    return OCCUPANCY_OK;
}

static bool runs(const struct advise_row *row)
{
    return row->slots > 0;
}

static int distance_from_usual(const struct advise_row *row)
{
    return row->threads > USUAL_THREADS ? row->threads - USUAL_THREADS : USUAL_THREADS - row->threads;
}

/* Among rows with about the same load on the busiest SM. */
static bool is_better_companion(const struct advise_row *row, const struct advise_row *best)
{
    if (row->occupancy.warps_per_sm != best->occupancy.warps_per_sm) {
        return row->occupancy.warps_per_sm > best->occupancy.warps_per_sm;
    }
    return distance_from_usual(row) < distance_from_usual(best);
}

static size_t most_warps(const struct advise_row *rows, size_t count)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (runs(&rows[i]) &&
            (best == SIZE_MAX || rows[i].occupancy.warps_per_sm >= rows[best].occupancy.warps_per_sm)) {
            best = i;
        }
    }
    return best;
}

static void set_bar(struct advise_choice *choice, struct advise_row *rows, size_t count, int warps_needed)
{
    int most = rows[choice->highest_occupancy].occupancy.warps_per_sm;
    choice->warps_from_latency = warps_needed > 0;
    choice->bar_out_of_reach = warps_needed > most;
    choice->warps_enough = warps_needed > 0 ? warps_needed : (int)ceil(most * enough_share);
    int bar = choice->bar_out_of_reach ? most : choice->warps_enough;
    for (size_t i = 0; i < count; i++) {
        rows[i].enough_warps = runs(&rows[i]) && rows[i].occupancy.warps_per_sm >= bar;
    }
}

struct advise_choice advise_choose(struct advise_row *rows, size_t count, int warps_needed)
{
    struct advise_choice choice = {.recommended = SIZE_MAX, .highest_occupancy = most_warps(rows, count)};
    if (choice.highest_occupancy == SIZE_MAX) {
        return choice;
    }
    set_bar(&choice, rows, count, warps_needed);
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].enough_warps && rows[i].excess < least) {
            least = rows[i].excess;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].enough_warps || rows[i].excess > least + same_excess) {
            continue;
        }
        if (choice.recommended == SIZE_MAX || is_better_companion(&rows[i], &rows[choice.recommended])) {
            choice.recommended = i;
        }
    }
    return choice;
}
