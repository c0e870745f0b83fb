/* Block sizes tried one after the other on the model of the SM. */
#include "judge.h"

enum { WARP_LANES = 32 };

static bool launch_of(const struct scan_kernel *kernel, const struct scan_question *question,
                      struct occupancy_launch *launch)
{
    if (!scan_has_resources(kernel) || !(kernel->valid & CUBIN_HAS_REGISTERS) ||
        kernel->static_shared_bytes > INT32_MAX || kernel->barriers > INT32_MAX ||
        kernel->registers_per_thread > INT32_MAX) {
        return false;
    }
    *launch = (struct occupancy_launch){
        .registers_per_thread = (int)kernel->registers_per_thread,
        .static_shared_bytes = (int)kernel->static_shared_bytes,
        .dynamic_shared_bytes = question->dynamic_shared_bytes,
        .barriers = (int)kernel->barriers,
        .carveout_percent = -1,
        .max_dynamic_shared_bytes = -1,
    };
    return true;
}

static uint32_t required_threads(const struct scan_kernel *kernel)
{
    if (!(kernel->valid & CUBIN_HAS_REQUIRED_BLOCK)) {
        return 0;
    }
    uint64_t threads = (uint64_t)kernel->required_block[0] * kernel->required_block[1];
    threads = threads > UINT16_MAX ? UINT16_MAX : threads * kernel->required_block[2];
    return threads > UINT16_MAX ? UINT16_MAX : (uint32_t)threads;
}

static uint32_t most_threads(const struct scan_kernel *kernel, const struct occupancy_sm *sm)
{
    uint32_t most = (uint32_t)sm->threads_per_block;
    if (kernel->valid & CUBIN_HAS_MAX_THREADS && kernel->max_threads_per_block < most) {
        most = kernel->max_threads_per_block;
    }
    return most;
}

static bool occupancy_at(const struct occupancy_sm *sm, struct occupancy_launch launch, uint32_t threads,
                         struct occupancy *result)
{
    launch.threads = (int)threads;
    return occupancy_compute(sm, &launch, result) == OCCUPANCY_OK;
}

static void try_block(const struct occupancy_sm *sm, const struct occupancy_launch *launch, uint32_t threads,
                      struct scan_verdict *verdict)
{
    struct occupancy result;
    if (!occupancy_at(sm, *launch, threads, &result)) {
        return;
    }
    if (!verdict->known || result.theoretical_occupancy > verdict->best_occupancy) {
        verdict->known = true;
        verdict->best_occupancy = result.theoretical_occupancy;
        verdict->best_blocks.count = 0;
    }
    if (result.theoretical_occupancy == verdict->best_occupancy &&
        verdict->best_blocks.count < SCAN_BLOCKS_MOST) {
        verdict->best_blocks.threads[verdict->best_blocks.count++] = (uint16_t)threads;
    }
}

static void try_blocks(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                       uint32_t required, uint32_t most, struct scan_verdict *verdict)
{
    if (required || (most > 0 && most < WARP_LANES)) {
        try_block(sm, launch, required ? required : most, verdict);
        return;
    }
    for (uint32_t threads = WARP_LANES; threads <= most; threads += WARP_LANES) {
        try_block(sm, launch, threads, verdict);
    }
}

/* Of the best sizes the largest up to 256, which suits most kernels, else the least. */
static uint32_t usual_block(const struct scan_blocks *best)
{
    uint32_t block = best->threads[0];
    for (uint32_t i = 1; i < best->count && best->threads[i] <= 256; i++) {
        block = best->threads[i];
    }
    return block;
}

/* Nobody bounds a kernel to a block size other than the one it is launched with. */
static uint32_t block_to_judge(const struct scan_kernel *kernel, const struct scan_question *question,
                               uint32_t required, uint32_t most, const struct scan_blocks *best)
{
    if (required) {
        return required;
    }
    if (question->block) {
        return (uint32_t)question->block < most ? (uint32_t)question->block : most;
    }
    return kernel->valid & CUBIN_HAS_MAX_THREADS ? most : usual_block(best);
}

struct scan_verdict scan_judge(const struct scan_kernel *kernel, const struct scan_question *question)
{
    struct scan_verdict verdict = {0};
    struct occupancy_sm sm;
    struct occupancy_launch launch;
    int capability = question->device_capability ? question->device_capability : (int)kernel->sm;
    if (!launch_of(kernel, question, &launch) || !occupancy_sm_of_capability(capability, &sm)) {
        return verdict;
    }
    uint32_t required = required_threads(kernel), most = most_threads(kernel, &sm);
    try_blocks(&sm, &launch, required, most, &verdict);
    if (verdict.known) {
        verdict.block = block_to_judge(kernel, question, required, most, &verdict.best_blocks);
        verdict.known = occupancy_at(&sm, launch, verdict.block, &verdict.occupancy);
    }
    return verdict;
}
