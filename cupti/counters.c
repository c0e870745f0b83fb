/* Hardware counters by sampling: a few launches of each configuration, each in one single pass of one metric
 * set. A launch is never replayed, so kernels that are not idempotent stay right and nothing is saved or
 * restored.
 *
 * One launch at a time is measured in the whole process, under `lock`: between Start and Stop CUPTI
 * synchronises the context after every launch, and two such launches that wait for each other would hang. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/diagnose.h"
#include "cupti/plugin_state.h"
#include "cupti/session.h"
#include "cupti/watchdog.h"

#define SAMPLES_A           3u /* launches measured with each set, per configuration */
#define SAMPLES_B           1u
#define TRIES               3u /* for each of them: a launch that another thread's fell into is thrown away */
#define SAMPLES_PER_SECOND  50u
#define SAMPLES_IN_ALL      20000u
#define LAUNCH_LIMIT_NS     (2 * 1000000000ull) /* a measured launch that takes longer ends all sampling */
#define SET_DWELL_LAUNCHES  1024u /* changing the set costs: stay with one for so many launches, */
#define SET_UNUSED_LAUNCHES 32u   /* or until nobody has wanted it for so many */
#define IDLE_LAUNCHES       4096u /* launches without a sample after which the profiler is disabled */
#define SESSIONS            16

struct sampled {
    uint32_t launches;
    uint32_t done[METRIC_SETS], tries[METRIC_SETS];
    bool refused, asked;
    struct durations durations;
};

static struct {
    atomic_flag lock;
    atomic_bool stopped;
    struct by_configuration sampled;
    struct session sessions[SESSIONS];
    struct session *running;
    uint64_t second_ns;
    uint32_t in_second, in_all, since_sample, in_set, set_unused;
    CUresult (*current_context)(CUcontext *);
    CUresult (*context_device)(CUdevice *);
    CUresult (*device_attribute)(int *, CUdevice_attribute, CUdevice);
    char skip[512]; /* WARPWATCH_COUNTERS_SKIP: parts of kernel names, separated by commas */
} counters = {.lock = ATOMIC_FLAG_INIT};

static void disable_all(void)
{
    for (int i = 0; i < SESSIONS; i++) {
        session_disable(&cupti, &counters.sessions[i]);
    }
}

static void stop_sampling(const char *line)
{
    if (!atomic_exchange(&counters.stopped, true)) {
        plugin.complain(line);
    }
    disable_all();
}

static void stop_on_result(CUptiResult result)
{
    char line[512];
    diagnose_result(line, sizeof line, "counters", &cupti, result);
    stop_sampling(line);
}

static bool name_has_any(const char *name, const char *parts)
{
    char list[sizeof counters.skip];
    char *rest = NULL;
    snprintf(list, sizeof list, "%s", parts);
    for (char *part = strtok_r(list, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        if (strcasestr(name, part)) {
            return true;
        }
    }
    return false;
}

/* A green context, or one under MPS: not supported, and nobody tells us when a green context ends. */
static bool has_part_of_device(const struct store_configuration *record)
{
    CUdevice device;
    int sms;
    return (record->valid & STORE_CONFIGURATION_CONTEXT_SMS) && counters.device_attribute &&
           counters.context_device(&device) == CUDA_SUCCESS &&
           counters.device_attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) ==
               CUDA_SUCCESS &&
           record->context_sms < (uint32_t)sms;
}

/* Kernels that wait for other launches or other GPUs would hang while the context is synchronised after each.
 */
static bool must_not_be_measured(uint32_t configuration)
{
    const struct store_configuration *record = plugin.configuration(configuration);
    const char *name = plugin.kernel_name(configuration);
    return !record || !name || (record->flags & STORE_LAUNCH_MULTIDEVICE) || has_part_of_device(record) ||
           name_has_any(name, "nccl,nvshmem") || name_has_any(name, counters.skip);
}

static bool budget_left(uint64_t now_ns)
{
    if (now_ns - counters.second_ns >= 1000000000ull) {
        counters.second_ns = now_ns;
        counters.in_second = 0;
    }
    return counters.in_second < SAMPLES_PER_SECOND && counters.in_all < SAMPLES_IN_ALL;
}

static bool set_is_wanted(const struct sampled *sampled, enum metric_set set)
{
    uint32_t samples = set == METRIC_SET_A ? SAMPLES_A : SAMPLES_B;
    return sampled->done[set] < samples && sampled->tries[set] < samples * TRIES;
}

static bool set_may_change(void)
{
    return counters.in_set >= SET_DWELL_LAUNCHES || counters.set_unused >= SET_UNUSED_LAUNCHES;
}

static bool any_is_enabled(void)
{
    for (int i = 0; i < SESSIONS; i++) {
        if (counters.sessions[i].state == SESSION_ENABLED) {
            return true;
        }
    }
    return false;
}

/* The set to measure next: the one already configured while it is wanted. -1: none now. */
static int choose_set(const struct sampled *sampled, const struct session *session)
{
    if (session->state == SESSION_ENABLED && set_is_wanted(sampled, session->set)) {
        return (int)session->set;
    }
    bool may_enable = set_may_change() || !any_is_enabled();
    for (int set = 0; set < METRIC_SETS; set++) {
        bool possible = session->plans[set].count && session->plans[set].passes == 1;
        if (possible && may_enable && set_is_wanted(sampled, (enum metric_set)set)) {
            return set;
        }
    }
    return -1;
}

static struct session *session_of(CUcontext context)
{
    struct session *free_slot = NULL;
    for (int i = 0; i < SESSIONS; i++) {
        struct session *session = &counters.sessions[i];
        if (session->state != SESSION_CLOSED && session->context == context) {
            return session;
        }
        if (session->state == SESSION_CLOSED && !free_slot) {
            free_slot = session;
        }
    }
    return free_slot;
}

static struct session *ready_session(void)
{
    CUcontext context = NULL;
    CUdevice device = 0;
    if (counters.current_context(&context) != CUDA_SUCCESS || !context) {
        return NULL;
    }
    struct session *session = session_of(context);
    if (session && session->state == SESSION_CLOSED) {
        CUptiResult result = counters.context_device(&device) == CUDA_SUCCESS
                                 ? session_open(&cupti, session, context, device)
                                 : CUPTI_ERROR_INVALID_CONTEXT;
        if (result) {
            stop_on_result(result);
        }
    }
    return session && session->state != SESSION_FAILED ? session : NULL;
}

/* CUPTI's own calls are under way in another thread: nothing is disabled here. */
static void measured_too_long(const char *kernel)
{
    char line[600];
    if (!atomic_exchange(&counters.stopped, true)) {
        snprintf(line, sizeof line,
                 "counters: a measured launch has taken more than 2 s: sampling ends. If the program stands "
                 "still, the "
                 "kernel waits for a later launch: WARPWATCH_COUNTERS_SKIP=%s",
                 kernel);
        plugin.complain(line);
    }
}

static bool begin_sample(struct sampled *sampled, uint32_t configuration)
{
    struct session *session = ready_session();
    int set = session ? choose_set(sampled, session) : -1;
    CUptiResult result = CUPTI_SUCCESS;
    if (set < 0) {
        return false;
    }
    if (session->state != SESSION_ENABLED || session->set != (enum metric_set)set) {
        disable_all(); /* one context at a time has the profiler */
        result = session_enable(&cupti, session, (enum metric_set)set);
        counters.in_set = 0;
    }
    result = result ? result : session_start(&cupti, session);
    if (result) {
        stop_on_result(result);
        return false;
    }
    counters.set_unused = 0;
    counters.running = session;
    watchdog_begin(plugin.kernel_name(configuration), LAUNCH_LIMIT_NS, measured_too_long);
    counters.in_second++;
    counters.in_all++;
    return true;
}

static bool wants_sample(struct sampled *sampled, uint32_t configuration)
{
    if (!sampled || sampled->refused || sampled->launches++ == 0) { /* the first one warms up */
        return false;
    }
    if (!sampled->asked) {
        sampled->asked = true;
        sampled->refused = must_not_be_measured(configuration);
    }
    return !sampled->refused &&
           (set_is_wanted(sampled, METRIC_SET_A) || set_is_wanted(sampled, METRIC_SET_B));
}

static void rest_when_idle(void)
{
    if (++counters.since_sample == IDLE_LAUNCHES) {
        disable_all();
    }
}

static uint64_t counters_before(const struct plugin_launch *launch)
{
    if (atomic_load_explicit(&counters.stopped, memory_order_relaxed) || launch->captures ||
        launch->configuration == STORE_NO_TARGET || !launch_lock_try(&counters.lock)) {
        return 0;
    }
    struct sampled *sampled = by_configuration(&counters.sampled, launch->configuration);
    counters.in_set++;
    counters.set_unused++;
    bool stopped = atomic_load(&counters.stopped); /* since we last looked */
    if (!stopped && wants_sample(sampled, launch->configuration) && budget_left(plugin_now_ns()) &&
        begin_sample(sampled, launch->configuration)) {
        counters.since_sample = 0;
        return 1; /* the lock is kept until `after` */
    }
    rest_when_idle();
    launch_lock_release(&counters.lock);
    return 0;
}

/* A figure that is NAN was not available: its valid bit stays down. */
static void keep_mean(struct store_measurement *record, double *mean, uint64_t samples, double value,
                      uint64_t bit)
{
    if (isnan(value)) {
        return;
    }
    *mean = record->valid & bit ? *mean + (value - *mean) / (double)samples : value;
    __atomic_store_n(&record->valid, record->valid | bit, __ATOMIC_RELEASE);
}

static void keep_values(uint32_t configuration, struct sampled *sampled, enum metric_set set,
                        const struct metric_values *values)
{
    struct store_measurement *record = plugin.measurement(configuration);
    if (!record) {
        return;
    }
    uint64_t *samples = set == METRIC_SET_A ? &record->samples_a : &record->samples_b;
    (*samples)++;
    keep_mean(record, &record->achieved_occupancy, *samples, metric_achieved_occupancy(values),
              STORE_MEASURED_OCCUPANCY);
    keep_mean(record, &record->lane_utilization, *samples, metric_lane_utilization(values),
              STORE_MEASURED_LANES);
    keep_mean(record, &record->branch_efficiency, *samples, metric_branch_efficiency(values),
              STORE_MEASURED_BRANCHES);
    keep_mean(record, &record->sectors_per_request, *samples, metric_sectors_per_request(values),
              STORE_MEASURED_SECTORS);
    keep_mean(record, &record->bank_conflicts_per_request, *samples,
              metric_bank_conflicts_per_request(values), STORE_MEASURED_BANKS);
    if (values->value[METRIC_duration_ns] > 0) {
        durations_add(&sampled->durations, (uint64_t)values->value[METRIC_duration_ns]);
        durations_publish(&sampled->durations, record, 0);
    }
}

static void counters_after(const struct plugin_launch *launch, uint64_t token, CUresult launch_result)
{
    struct metric_values values;
    bool measured;
    struct session *session = counters.running;
    enum metric_set set = session->set;
    struct sampled *sampled = by_configuration(&counters.sampled, launch->configuration);
    (void)token;
    CUptiResult result = session_stop(&cupti, session, &values, &measured);
    counters.running = NULL;
    sampled->tries[set]++; /* a kernel that cannot be measured is not tried for ever */
    if (result) {
        stop_on_result(result);
    } else if (measured && launch_result == CUDA_SUCCESS) {
        sampled->done[set]++;
        keep_values(launch->configuration, sampled, set, &values);
    }
    watchdog_end();
    if (atomic_load(&counters.stopped)) { /* while it was measured */
        disable_all();
    }
    launch_lock_release(&counters.lock);
}

static void counters_context_ending(CUcontext context)
{
    launch_lock_wait(&counters.lock);
    struct session *session = session_of(context);
    if (session && session->state != SESSION_CLOSED) {
        session_disable(&cupti, session);
        for (int set = 0; set < METRIC_SETS; set++) {
            metric_plan_free(&cupti, &session->plans[set]);
        }
        free(session->availability);
        free(session->image);
        memset(session, 0, sizeof *session);
    }
    launch_lock_release(&counters.lock);
}

static void counters_forked(void)
{
    atomic_store(&counters.stopped, true);
}

/* A launch that is being measured ends first, unless it takes too long: then it ends sampling itself. */
static void counters_yield(void)
{
    if (atomic_exchange(&counters.stopped, true)) {
        return;
    }
    plugin.complain("counters: another profiler starts in this process: sampling ends here");
    uint64_t until_ns = plugin_now_ns() + LAUNCH_LIMIT_NS;
    bool mine = launch_lock_try(&counters.lock);
    while (!mine && plugin_now_ns() < until_ns) {
        sched_yield();
        mine = launch_lock_try(&counters.lock);
    }
    if (mine) {
        disable_all();
        launch_lock_release(&counters.lock);
    }
}

static const struct plugin_hooks counter_hooks = {.before = counters_before,
                                                  .after = counters_after,
                                                  .context_ending = counters_context_ending,
                                                  .forked = counters_forked,
                                                  .yield = counters_yield};

const struct plugin_hooks *counters_open(char *why, size_t size)
{
    if (!(cupti.parts & CUPTI_PART_COUNTERS)) {
        snprintf(why, size,
                 "counters: %s has no range profiler: CUPTI of CUDA 12.6 update 2 or newer is needed",
                 cupti.path);
        return NULL;
    }
    const char *skip = getenv("WARPWATCH_COUNTERS_SKIP");
    snprintf(counters.skip, sizeof counters.skip, "%s", skip ? skip : "");
    counters.sampled.entry_bytes = sizeof(struct sampled);
    counters.current_context = (CUresult(*)(CUcontext *))plugin.driver_symbol("cuCtxGetCurrent");
    counters.context_device = (CUresult(*)(CUdevice *))plugin.driver_symbol("cuCtxGetDevice");
    counters.device_attribute =
        (CUresult(*)(int *, CUdevice_attribute, CUdevice))plugin.driver_symbol("cuDeviceGetAttribute");
    if (!counters.current_context || !counters.context_device) {
        snprintf(why, size, "counters: the driver has no cuCtxGetCurrent");
        return NULL;
    }
    plugin.set_feature(STORE_FEATURE_COUNTERS);
    return &counter_hooks;
}
