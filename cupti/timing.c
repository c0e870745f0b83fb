/* GPU time of every launch by CUPTI's Activity API. No subscription is held: a torch.profiler started later
 * works.
 *
 * Which configuration a kernel record belongs to is told by an external correlation id that we push around
 * the launch: CUPTI then delivers a record (correlation id, our id). Kernel records and these can come in
 * either order, in different buffers, so whichever comes first waits in a fixed-size table for the other. Of
 * the kernel record only the prefix that has the same layout in CUPTI 12 and 13 is read. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_activity.h>
#include <cupti_driver_cbid.h>

#include "cupti/diagnose.h"
#include "cupti/plugin_state.h"

#define BUFFER_BYTES    (1u << 20)
#define BUFFERS         16u
#define WAITING         65536u /* a power of two */
#define FLUSH_PERIOD_MS 1000u
/* External ids: a configuration, or one of these plus a body or a place in `firsts`. */
#define GRAPH_ID (1ull << 32)
#define FIRST_ID (1ull << 33)
#define FIRSTS   4096u /* a power of two */

struct kernel_prefix { /* CUpti_ActivityKernel9 … 13: the offsets that did not change */
    uint32_t kind;
    uint32_t other[3];
    uint64_t start_ns, end_ns; /* at 16 and 24 */
    uint32_t more[15];
    uint32_t correlation; /* at 92 */
};
_Static_assert(offsetof(struct kernel_prefix, end_ns) == 24, "end at 24");
_Static_assert(offsetof(struct kernel_prefix, correlation) == 92, "correlationId at 92");

struct waiting { /* half of a pair */
    uint32_t correlation;
    bool kernel_known, id_known;
    uint64_t ns, id;
};

/* A first launch, whose configuration is known only after it: whichever of the two comes first waits for the
 * other. */
struct first {
    uint32_t configuration; /* + 1 */
    uint64_t ns;
};

static struct {
    pthread_mutex_t lock;
    atomic_bool inert;
    struct first firsts[FIRSTS];
    atomic_uint next_first;
    void *free_buffers[BUFFERS];
    unsigned free_count, made;
    struct waiting *waiting;
    struct by_configuration durations;
    uint64_t dropped;
    bool dropped_said;
} timing = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void credit_configuration(uint32_t configuration, uint64_t ns)
{
    struct durations *durations = by_configuration(&timing.durations, configuration);
    struct store_measurement *record = durations ? plugin.measurement(configuration) : NULL;
    if (record) {
        durations_add(durations, ns);
        durations_publish(durations, record, 0);
    }
}

static void credit_first(struct first *first)
{
    if (first->configuration && first->ns) {
        credit_configuration(first->configuration - 1, first->ns);
        first->ns = 0;
    }
}

static void credit(uint64_t id, uint64_t ns)
{
    if (id >= FIRST_ID) {
        struct first *first = &timing.firsts[id % FIRSTS];
        first->ns = ns;
        credit_first(first);
    } else if (id < GRAPH_ID) { /* of a graph it is not told which of its nodes a kernel was */
        credit_configuration((uint32_t)id, ns);
    }
}

static struct waiting *waiting_for(uint32_t correlation)
{
    struct waiting *entry = &timing.waiting[correlation % WAITING];
    if (entry->correlation != correlation) {
        *entry = (struct waiting){.correlation = correlation}; /* an older half is given up */
    }
    return entry;
}

static void pair_up(struct waiting *entry)
{
    if (entry->kernel_known && entry->id_known) {
        credit(entry->id, entry->ns);
        entry->kernel_known = false; /* the id stays: a graph launch has many kernels */
    }
}

static void read_record(const CUpti_Activity *record)
{
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
        const struct kernel_prefix *kernel = (const struct kernel_prefix *)record;
        struct waiting *entry = waiting_for(kernel->correlation);
        if (kernel->start_ns && kernel->end_ns >= kernel->start_ns) { /* 0: CUPTI could not take the time */
            entry->ns = kernel->end_ns - kernel->start_ns;
            entry->kernel_known = true;
            pair_up(entry);
        }
    } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
        const CUpti_ActivityExternalCorrelation *external = (const CUpti_ActivityExternalCorrelation *)record;
        if (external->externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2) {
            struct waiting *entry = waiting_for(external->correlationId);
            entry->id = external->externalId;
            entry->id_known = true;
            pair_up(entry);
        }
    }
}

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    pthread_mutex_lock(&timing.lock);
    void *memory = NULL;
    if (timing.free_count) {
        memory = timing.free_buffers[--timing.free_count];
    } else if (timing.made < BUFFERS && posix_memalign(&memory, 8, BUFFER_BYTES) == 0) {
        timing.made++;
    }
    pthread_mutex_unlock(&timing.lock);
    *buffer = memory;
    *size = memory ? BUFFER_BYTES : 0;
    *max_records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                      size_t valid)
{
    CUpti_Activity *record = NULL;
    size_t dropped = 0;
    (void)size;
    pthread_mutex_lock(&timing.lock);
    while (valid && !atomic_load_explicit(&timing.inert, memory_order_relaxed) &&
           cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        read_record(record);
    }
    if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
        timing.dropped += dropped;
    }
    if (buffer && timing.free_count < BUFFERS) {
        timing.free_buffers[timing.free_count++] = buffer;
    }
    bool say = timing.dropped && !timing.dropped_said;
    timing.dropped_said |= say;
    pthread_mutex_unlock(&timing.lock);
    if (say) {
        plugin.complain(
            "timing: CUPTI dropped records: GPU times cover a part of the launches (see the counts)");
    }
}

static uint64_t push(uint64_t id)
{
    return cupti.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, id) ==
                   CUPTI_SUCCESS
               ? id + 1
               : 0;
}

static uint64_t push_first(void)
{
    uint32_t place = atomic_fetch_add_explicit(&timing.next_first, 1, memory_order_relaxed) % FIRSTS;
    pthread_mutex_lock(&timing.lock);
    timing.firsts[place] = (struct first){0};
    pthread_mutex_unlock(&timing.lock);
    return push(FIRST_ID + place);
}

static uint64_t timing_before(const struct plugin_launch *launch)
{
    if (launch->capturing || atomic_load_explicit(&timing.inert, memory_order_relaxed)) {
        return 0;
    }
    if (launch->body != STORE_NO_TARGET) {
        return push(GRAPH_ID + launch->body);
    }
    return launch->configuration == STORE_NO_TARGET ? push_first() : push(launch->configuration);
}

static void timing_after(const struct plugin_launch *launch, uint64_t token, CUresult result)
{
    uint64_t id = token - 1, popped;
    cupti.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped);
    if (id >= FIRST_ID && result == CUDA_SUCCESS && launch->configuration != STORE_NO_TARGET) {
        struct first *first = &timing.firsts[id % FIRSTS];
        pthread_mutex_lock(&timing.lock);
        first->configuration = launch->configuration + 1;
        credit_first(first);
        pthread_mutex_unlock(&timing.lock);
    }
}

static void flush(void)
{
    if (!atomic_load(&timing.inert)) {
        cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    }
}

static void timing_context_ending(CUcontext context)
{
    (void)context;
    flush();
}

static void timing_forked(void)
{
    atomic_store(&timing.inert, true);
}

static const struct plugin_hooks timing_hooks = {.before = timing_before,
                                                 .after = timing_after,
                                                 .context_ending = timing_context_ending,
                                                 .forked = timing_forked};

/* Only the launch functions: an API kind as a whole would record every driver call of the program. */
static const CUpti_CallbackId launch_callbacks[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
};

static CUptiResult start_activity(void)
{
    CUptiResult result = cupti.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    result = result ? result : cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    result = result ? result : cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (size_t i = 0; result == CUPTI_SUCCESS && i < sizeof launch_callbacks / sizeof *launch_callbacks;
         i++) {
        result = cupti.cuptiActivityEnableDriverApi(launch_callbacks[i], 1);
    }
    if (result == CUPTI_SUCCESS) {
        cupti.cuptiActivityFlushPeriod(FLUSH_PERIOD_MS);
    }
    return result;
}

const struct plugin_hooks *timing_open(char *why, size_t size)
{
    if (!(cupti.parts & CUPTI_PART_TIMING)) {
        snprintf(why, size, "%s lacks the Activity API", cupti.path);
        return NULL;
    }
    timing.durations.entry_bytes = sizeof(struct durations);
    timing.waiting = calloc(WAITING, sizeof *timing.waiting);
    CUptiResult result = timing.waiting ? start_activity() : CUPTI_ERROR_OUT_OF_MEMORY;
    if (result) {
        cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
        cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
        diagnose_result(why, size, "timing", &cupti, result);
        return NULL;
    }
    /* Runs before the driver's own exit handlers, because it is registered after them. */
    atexit(flush);
    plugin.set_feature(STORE_FEATURE_TIMING);
    return &timing_hooks;
}
