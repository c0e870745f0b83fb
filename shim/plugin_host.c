/* Opens the plug-in and lends it what it needs of the process. */
#include "plugin_host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bodies.h"
#include "loader.h"
#include "message.h"
#include "process.h"
#include "records.h"
#include "settings.h"
#include "shard.h"
#include "store.h"

static _Atomic(const struct plugin_hooks *) hooks;
static _Atomic uint64_t features;   /* asked for before there was a store */
static _Atomic uint64_t owed_ticks; /* spent on measuring before there was a shard to note it in */
static _Atomic bool other_profiler; /* has called CUPTI */

static void *library_open(const char *path, int flags)
{
    void *(*real)(const char *, int) = (void *(*)(const char *, int))loader_after_us("dlopen");
    return real ? real(path, flags) : NULL;
}

/* `known` holds what was made already: an index + 1. */
static struct store_measurement *measurement_in(uint32_t *known, uint32_t configuration)
{
    recorder_lock_take();
    if (*known == 0) {
        struct store_measurement fresh = {.configuration = configuration};
        *known = store_add(STORE_MEASUREMENTS, &fresh) + 1;
    }
    void *record = *known ? store_record(STORE_MEASUREMENTS, *known - 1) : NULL;
    recorder_lock_give();
    return record;
}

static struct store_measurement *measurement(uint32_t configuration)
{
    static uint32_t known[RECORDS_MOST_CONFIGURATIONS];
    return configuration < RECORDS_MOST_CONFIGURATIONS ? measurement_in(&known[configuration], configuration)
                                                       : NULL;
}

static struct store_measurement *body_measurement(uint32_t body)
{
    static uint32_t known[BODIES_MOST];
    return body < BODIES_MOST ? measurement_in(&known[body], STORE_TARGET(STORE_REPLAY, body)) : NULL;
}

static uint32_t body_configuration(uint32_t body, uint32_t place)
{
    uint32_t configuration = STORE_NO_TARGET;
    recorder_lock_take();
    const struct store_body *record =
        body < store_count(STORE_BODIES) ? store_record(STORE_BODIES, body) : NULL;
    if (record && place < record->nodes) {
        const struct store_node *node = store_record(STORE_NODES, record->first_node + place);
        configuration = node->configuration;
    }
    recorder_lock_give();
    return configuration;
}

static const struct store_configuration *configuration(uint32_t number)
{
    recorder_lock_take();
    bool known = number < store_count(STORE_CONFIGURATIONS);
    const void *record = known ? store_record(STORE_CONFIGURATIONS, number) : NULL;
    recorder_lock_give();
    return record;
}

static const char *kernel_name(uint32_t number)
{
    const struct store_configuration *record = configuration(number);
    if (record == NULL) {
        return NULL;
    }
    recorder_lock_take();
    const struct store_kernel *kernel = store_record(STORE_KERNELS, record->kernel);
    const char *name = records_terminated_text(&kernel->name);
    recorder_lock_give();
    return name;
}

static void complain(const char *line)
{
    message("%s", line);
}

static void set_feature(uint64_t bits)
{
    atomic_fetch_or(&features, bits);
    process_set_feature(bits);
}

static bool plugin_path(char *path, size_t size)
{
    const char *own = process_library_path(), *slash = strrchr(own, '/');
    int bytes =
        snprintf(path, size, "%.*s/libwarpwatch_cupti.so", slash ? (int)(slash - own) : 1, slash ? own : ".");
    return bytes > 0 && (size_t)bytes < size;
}

static plugin_open_function *find_plugin(void)
{
    char path[PATH_MAX];
    void *library = plugin_path(path, sizeof path) ? library_open(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const uint32_t *version = loader_symbol(library, "warpwatch_plugin_version");
    plugin_open_function *open = (plugin_open_function *)loader_symbol(library, "warpwatch_plugin_open");
    if (library == NULL) {
        message("timing and counters are off: %s cannot be loaded", path);
    } else if (version == NULL || open == NULL || *version != PLUGIN_VERSION) {
        message("timing and counters are off: %s is of another version: install both libraries together",
                path);
        open = NULL;
    }
    return library ? open : NULL;
}

/* A thread that comes while another opens it goes on unwatched: waiting could be for itself. */
void plugin_open(void)
{
    static atomic_flag opened = ATOMIC_FLAG_INIT;
    static const struct plugin_services fixed = {
        .library_open = library_open,
        .library_symbol = loader_symbol,
        .driver_symbol = driver_symbol,
        .measurement = measurement,
        .body_measurement = body_measurement,
        .body_configuration = body_configuration,
        .configuration = configuration,
        .kernel_name = kernel_name,
        .complain = complain,
        .set_feature = set_feature,
    };
    static struct plugin_services services;
    if (!plugin_is_wanted() || atomic_flag_test_and_set(&opened)) {
        return;
    }
    services = fixed;
    services.settings = (struct plugin_settings){.timing = settings.timing,
                                                 .counters = settings.counters,
                                                 .graph_nodes = settings.timing_nodes,
                                                 .other_profiler = load_acquire(&other_profiler)};
    uint64_t start = clock_ticks();
    plugin_open_function *open = find_plugin();
    if (open == NULL) {
        return;
    }
    hooks = open(&services);
    atomic_fetch_add(&owed_ticks, clock_ticks() - start);
    store_release(&recorder.watched, hooks && (hooks->before || hooks->after));
}

void plugin_store_opened(void)
{
    plugin_open();
    if (atomic_load(&features)) {
        process_set_feature(atomic_load(&features));
    }
}

static uint32_t body_of(uint32_t target)
{
    return target != STORE_NO_TARGET && STORE_TARGET_KIND(target) == STORE_REPLAY ? STORE_TARGET_INDEX(target)
                                                                                  : STORE_NO_TARGET;
}

static uint32_t configuration_of(uint32_t target)
{
    bool is_one = target != STORE_NO_TARGET &&
                  (STORE_TARGET_KIND(target) == STORE_DIRECT || STORE_TARGET_KIND(target) == STORE_RUNTIME);
    return is_one ? STORE_TARGET_INDEX(target) : STORE_NO_TARGET;
}

/* Captured launches may come before the first one that runs. */
static bool anything_is_known(void)
{
    return load_acquire(&recorder.mode) != RECORDER_UNSET;
}

static void note_target(struct plugin_launch *launch, uint32_t target)
{
    launch->configuration = configuration_of(target);
    launch->body = body_of(target);
}

static void note_ticks(uint64_t ticks)
{
    struct shard *shard = thread.shard;
    if (shard == NULL) {
        atomic_fetch_add(&owed_ticks, ticks);
        return;
    }
    _Atomic uint64_t *measuring = (_Atomic uint64_t *)&shard->record->measuring;
    uint64_t owed = load_relaxed(&owed_ticks) ? atomic_exchange(&owed_ticks, 0) : 0;
    store_relaxed(measuring, load_relaxed(measuring) + ticks + owed);
}

void plugin_before(struct watched *watched, void *function, uint64_t grid, uint64_t block, uint64_t extras,
                   CUstream stream)
{
    KEEP_ERRNO;
    uint64_t start = clock_ticks();
    watched->launch = (struct plugin_launch){
        .configuration = STORE_NO_TARGET,
        .body = STORE_NO_TARGET,
        .function = function,
        .stream = stream,
        .per_thread_default_stream = extras & LAUNCH_PER_THREAD,
        .is_graph = extras & LAUNCH_GRAPH,
        .captures = load_acquire(&recorder.captures) > 0,
    };
    watched->grid = grid;
    watched->block = block;
    watched->extras = extras;
    if (anything_is_known()) {
        note_target(&watched->launch, recorder_target_before(function, grid, block, extras, stream));
    }
    watched->token = hooks->before ? hooks->before(&watched->launch) : 0;
    note_ticks(clock_ticks() - start);
}

void plugin_after(struct watched *watched, CUresult result)
{
    KEEP_ERRNO;
    uint64_t start = clock_ticks();
    struct plugin_launch *launch = &watched->launch;
    bool known = launch->configuration != STORE_NO_TARGET || launch->body != STORE_NO_TARGET;
    if (!known && result == CUDA_SUCCESS && anything_is_known()) { /* the first of its kind */
        note_target(launch, recorder_target(launch->function, watched->grid, watched->block, watched->extras,
                                            launch->stream));
    }
    if (hooks->after) {
        hooks->after(launch, watched->token, result);
    }
    note_ticks(clock_ticks() - start);
}

void plugin_context_ending(CUcontext context)
{
    if (hooks && hooks->context_ending) {
        hooks->context_ending(context);
    }
}

void plugin_forked(void)
{
    if (hooks && hooks->forked) {
        hooks->forked();
    }
    hooks = NULL;
}

void plugin_other_profiler(void)
{
    store_release(&other_profiler, true);
    if (hooks && hooks->yield) {
        hooks->yield();
    }
}
