/* The occupancy of one launch, explained to a person. */
#include <limits.h>
#include <string.h>

#include "model/lift.h"
#include "verbs/model/occupancy.h"
#include "verbs/model/text.h"

static void print_launch(const struct modelled_launch *m, FILE *stream)
{
    char capability[MODEL_TEXT_BYTES];
    text_capability(m->sm.compute_capability, capability);
    if (m->device) {
        fprintf(stream, "%s: compute capability %s, %d SMs\n", m->device->product, capability,
                m->device->sms);
    } else {
        fprintf(stream, "compute capability %s\n", capability);
    }
    fprintf(stream, "%d threads a block, %d registers a thread, %d + %d bytes of shared memory a block",
            m->launch.threads, m->launch.registers_per_thread, m->launch.static_shared_bytes,
            m->launch.dynamic_shared_bytes);
    if (m->launch.barriers > 0) {
        fprintf(stream, ", %d barriers", m->launch.barriers);
    }
    if (m->cluster_blocks > 1) {
        fprintf(stream, ", clusters of %d", m->cluster_blocks);
    }
    fputs("\n\n", stream);
}

static void print_result(const struct modelled_launch *m, FILE *stream)
{
    char share[MODEL_TEXT_BYTES], blocks[MODEL_TEXT_BYTES];
    const struct occupancy *occupancy = &m->occupancy;
    if (occupancy->blocks_per_sm == 0) {
        fputs("cannot run: not one block fits on an SM\n", stream);
    } else {
        fprintf(stream, "%s per SM, %d of %d warps: theoretical occupancy %s\n",
                text_counted((uint64_t)occupancy->blocks_per_sm, "block", blocks), occupancy->warps_per_sm,
                m->sm.threads / 32, text_percent(occupancy->theoretical_occupancy, share));
    }
    if (m->sm.estimated) {
        fputs("estimated: this capability is newer than the table, the nearest older one stands in\n",
              stream);
    }
}

static void print_limit(const struct modelled_launch *m, unsigned limiter, const char *what, int limit,
                        const char *why, FILE *stream)
{
    char blocks[MODEL_TEXT_BYTES] = "no limit";
    if (limit != INT_MAX) {
        snprintf(blocks, sizeof blocks, "%d", limit);
    }
    const char *mark = m->occupancy.limiters & limiter ? " <" : "  ";
    fprintf(stream, "  %-14s %9s%s%s%s\n", what, blocks, *why || mark[1] == '<' ? mark : "", *why ? "  " : "",
            why);
}

static void print_registers(const struct modelled_launch *m, FILE *stream)
{
    char why[128];
    int per_warp = m->occupancy.registers_per_block_allocated / m->occupancy.warps_per_block;
    snprintf(why, sizeof why, "a warp takes %d of the %d in each of %d sub-partitions", per_warp,
             m->sm.registers / m->sm.sub_partitions, m->sm.sub_partitions);
    print_limit(m, LIMITER_REGISTERS, "registers", m->occupancy.limit_registers, why, stream);
}

static void print_shared(const struct modelled_launch *m, FILE *stream)
{
    char why[192];
    snprintf(why, sizeof why, "a block takes %d of %d bytes", m->occupancy.shared_per_block_allocated_bytes,
             m->occupancy.shared_configured_bytes);
    if (m->sm.shared_reserved_bytes) {
        snprintf(why + strlen(why), sizeof why - strlen(why), ", %d of them reserved",
                 m->sm.shared_reserved_bytes);
    }
    if (m->occupancy.limit_shared_memory == 0) {
        snprintf(why, sizeof why, "a block asks for %d bytes and can have %d",
                 m->launch.static_shared_bytes + m->launch.dynamic_shared_bytes,
                 m->sm.shared_per_block_optin_bytes);
    }
    print_limit(m, LIMITER_SHARED_MEMORY, "shared memory", m->occupancy.limit_shared_memory, why, stream);
}

static void print_limits(const struct modelled_launch *m, FILE *stream)
{
    char why[128];
    fputs("\n  limit          blocks/SM\n", stream);
    snprintf(why, sizeof why, "a block takes %d of %d warps", m->occupancy.warps_per_block,
             m->sm.threads / 32);
    print_limit(m, LIMITER_THREADS, "threads", m->occupancy.limit_threads, why, stream);
    print_limit(m, LIMITER_BLOCKS, "block slots", m->occupancy.limit_blocks, "", stream);
    print_registers(m, stream);
    print_shared(m, stream);
    if (m->launch.barriers > 0) {
        snprintf(why, sizeof why,
                 m->sm.barriers ? "a block takes %d of %d" : "not a limit on this capability",
                 m->launch.barriers, m->sm.barriers);
        print_limit(m, LIMITER_BARRIERS, "barriers", m->occupancy.limit_barriers, why, stream);
    }
}

static void print_change(const struct lift_change *change, FILE *stream)
{
    static const char *const nouns[LIFT_KINDS] = {
        [LIFT_REGISTERS] = "registers a thread", [LIFT_SHARED_MEMORY] = "bytes of shared memory a block",
        [LIFT_BARRIERS] = "barriers a block",    [LIFT_CARVEOUT] = "percent carve-out",
        [LIFT_THREADS] = "threads a block",
    };
    fprintf(stream, "%d %s", change->to, nouns[change->what]);
}

static void print_lifts(const struct modelled_launch *m, FILE *stream)
{
    struct lift lifts[LIFTS_MAX];
    int count = lift_limits(&m->sm, &m->launch, lifts);
    if (m->occupancy.theoretical_occupancy >= 1) {
        fputs("\nEvery warp slot is taken: nothing to lift.\n", stream);
        return;
    }
    fputs(count ? "\nWhat would lift it\n"
                : "\nNo single change and none of tied limits together lifts it.\n",
          stream);
    for (int i = 0; i < count; i++) {
        char share[MODEL_TEXT_BYTES], blocks[MODEL_TEXT_BYTES];
        fputs("  ", stream);
        for (int j = 0; j < lifts[i].changes_count; j++) {
            fputs(j ? " and " : "", stream);
            print_change(&lifts[i].changes[j], stream);
        }
        fprintf(stream, ": %s per SM, %s%s\n",
                text_counted((uint64_t)lifts[i].blocks_per_sm, "block", blocks),
                text_percent(lifts[i].theoretical_occupancy, share),
                lifts[i].helps ? "" : ", no more warps than now");
    }
}

static void print_clusters(const struct modelled_launch *m, FILE *stream)
{
    const struct cluster_capacity *resident = &m->resident;
    fprintf(
        stream,
        "\nClusters of %d: %d fit if the SMs are spread evenly over the GPCs, %d to %d depending on the die\n"
        "(estimated; the driver knows: cuOccupancyMaxActiveClusters).\n",
        m->cluster_blocks, resident->even, resident->least, resident->most);
}

static void print_waves(const struct modelled_launch *m, FILE *stream)
{
    char blocks[MODEL_TEXT_BYTES], slots[MODEL_TEXT_BYTES], fullness[MODEL_TEXT_BYTES],
        waste[MODEL_TEXT_BYTES];
    const struct waves *waves = &m->waves;
    fprintf(stream, "\n%s on %s: %.4g wave%s\n", text_counted(m->blocks, "block", blocks),
            text_counted(waves->slots, "slot", slots), waves->waves, waves->waves == 1 ? "" : "s");
    if (waves->full_waves * waves->slots == m->blocks) {
        fputs("  no tail: the last wave is full\n", stream);
    } else if (waves->full_waves == 0) {
        fprintf(stream, "  less than one wave: %s of the slots are used\n",
                text_percent(waves->tail_fullness, fullness));
    } else {
        fprintf(stream, "  %llu full, and a tail that fills %s of its slots: %s of all slot time is wasted\n",
                (unsigned long long)waves->full_waves, text_percent(waves->tail_fullness, fullness),
                text_percent(waves->tail_waste, waste));
    }
    if (waves->idle_sms > 0) {
        fprintf(stream, "  %llu of %d SMs have no block in %s\n", (unsigned long long)waves->idle_sms,
                m->device->sms, waves->full_waves ? "the last wave" : "it");
    }
    if (waves_look_persistent(m->blocks, (unsigned)m->device->sms, m->slots)) {
        fputs("  the shape of a persistent kernel: the same number of blocks on every SM, all resident\n",
              stream);
    }
}

static void print_idle_lanes(const struct modelled_launch *m, FILE *stream)
{
    unsigned idle = waves_idle_lanes_per_block((unsigned)m->launch.threads);
    if (idle > 0) {
        fprintf(stream,
                "\n%u of the %d lanes of a block's warps have no thread: %d is not a multiple of 32.\n", idle,
                m->occupancy.warps_per_block * 32, m->launch.threads);
    }
}

void modelled_launch_explain(const struct modelled_launch *m, FILE *stream)
{
    print_launch(m, stream);
    print_result(m, stream);
    print_limits(m, stream);
    print_lifts(m, stream);
    print_idle_lanes(m, stream);
    if (m->device && m->cluster_blocks > 1 && m->occupancy.blocks_per_sm > 0) {
        print_clusters(m, stream);
    }
    if (modelled_launch_has_waves(m)) {
        print_waves(m, stream);
    }
}
