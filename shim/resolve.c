/* From a launch to its target: the device, the kernel, the configuration, each looked up or described once.
 */
#include "resolve.h"

#include "describe.h"
#include "filter.h"
#include "recorder_state.h"
#include "records.h"

enum { MOST_PENDING = 1024 };

/* A configuration that was met while streams were captured, when the driver must not be asked about
 * functions. */
struct pending {
    struct launch launch;
    CUcontext context;
    uint32_t configuration;
};

static struct pending pending[MOST_PENDING];
static uint32_t pending_count;

static CUcontext context_of(const struct launch *launch, const struct handle_facts *facts, CUcontext context)
{
    if (context == NULL && facts->kind == HANDLE_FUNCTION && load_relaxed(&recorder.places) != PLACES_PARTS) {
        context = facts->context;
    }
    return context ? context : describe_context(launch->stream);
}

static uint32_t add_kernel(const struct handle_facts *facts, const struct kernel_description *description,
                           bool left_out)
{
    static const struct store_kernel all_left_out = {.valid = STORE_KERNEL_FILTERED};
    return left_out ? records_kernel("(kernels that WARPWATCH_FILTER leaves out)", "", &all_left_out)
                    : records_kernel(description->name, facts->image, &description->kernel);
}

/* The handle as the device sees it; asks the driver the first time, unless that must not be. */
static bool see(const struct launch *launch, const struct handle_facts *facts,
                const struct launch_place *place, bool may_ask, struct sighting *sighting)
{
    recorder_lock_take();
    bool seen = registry_seen(launch->function, place->device, sighting);
    recorder_lock_give();
    if (seen) {
        return true;
    }
    struct kernel_description description;
    if (may_ask) {
        describe_kernel(launch->function, facts, place->ordinal, &description);
    } else {
        describe_unasked(launch->function, facts, &description);
    }
    bool left_out = filter_leaves_out(description.name);
    *sighting = description.sighting;
    sighting->device = place->device;
    recorder_lock_take();
    sighting->kernel = add_kernel(facts, &description, left_out);
    if (sighting->kernel != STORE_NO_TARGET && may_ask) {
        registry_add_sighting(launch->function, sighting);
    }
    recorder_lock_give();
    return may_ask;
}

static void effective_cluster(const struct launch *launch, const struct sighting *sighting,
                              uint32_t cluster[3])
{
    for (int i = 0; i < 3; i++) {
        uint32_t asked = launch->cluster[i] ? launch->cluster[i] : sighting->required_cluster[i];
        cluster[i] = asked ? asked : 1;
    }
}

static void fill_configuration(const struct launch *launch, const struct launch_place *place,
                               const struct sighting *sighting, struct store_configuration *configuration)
{
    *configuration = (struct store_configuration){
        .kernel = sighting->kernel,
        .device = place->device,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .dynamic_shared_bytes = launch->shared_bytes,
        .flags = launch->flags & LAUNCH_STORED_FLAGS,
        .max_dynamic_shared_bytes = sighting->max_dynamic_shared_bytes,
        .carveout_percent = sighting->carveout_percent,
        .preferred_cluster = {launch->preferred_cluster[0], launch->preferred_cluster[1],
                              launch->preferred_cluster[2]},
        .context_sms = place->context_sms,
        .valid = sighting->valid | (place->context_sms ? STORE_CONFIGURATION_CONTEXT_SMS : 0),
    };
    effective_cluster(launch, sighting, configuration->cluster);
}

/* A CUkernel's residency is asked of the current context's device. */
static bool may_ask_residency(const struct handle_facts *facts, const struct launch_place *place)
{
    return facts->kind == HANDLE_FUNCTION ||
           (facts->kind == HANDLE_KERNEL && describe_current_context() == place->context);
}

static uint32_t find_or_add(const struct launch *launch, struct store_configuration *configuration, bool ask)
{
    recorder_lock_take();
    uint32_t number = records_find_configuration(configuration);
    bool full = store_count(STORE_CONFIGURATIONS) >= RECORDS_MOST_CONFIGURATIONS;
    recorder_lock_give();
    if (number != STORE_NO_TARGET || full) {
        return number;
    }
    if (ask) {
        describe_residency(launch, configuration);
    }
    recorder_lock_take();
    number = records_add_configuration(configuration);
    recorder_lock_give();
    return number;
}

static bool counts_for_kernel_only(uint32_t kernel)
{
    recorder_lock_take();
    const struct store_kernel *record = store_record(STORE_KERNELS, kernel);
    bool only = record->valid & (STORE_KERNEL_FILTERED | STORE_KERNEL_REST);
    recorder_lock_give();
    return only;
}

static void remember(const struct launch *launch, CUcontext context, uint32_t configuration)
{
    recorder_lock_take();
    bool known = configuration == STORE_NO_TARGET || pending_count == MOST_PENDING;
    for (uint32_t i = 0; i < pending_count && !known; i++) {
        known = pending[i].configuration == configuration;
    }
    if (!known) {
        pending[pending_count] = (struct pending){*launch, context, configuration};
        pending[pending_count++].launch.stream = NULL; /* it may be gone by then */
    }
    recorder_lock_give();
}

static struct resolved resolve_when(const struct launch *launch, CUcontext context, bool may_ask)
{
    recorder_lock_take();
    struct handle_facts facts = registry_facts(launch->function);
    recorder_lock_give();
    struct launch_place place;
    struct sighting sighting;
    describe_place(context_of(launch, &facts, context), &place);
    bool described = see(launch, &facts, &place, may_ask, &sighting);
    struct resolved resolved = {STORE_NO_TARGET, sighting.kernel, !described, facts.kind == HANDLE_FUNCTION};
    if (resolved.kernel == STORE_NO_TARGET || counts_for_kernel_only(resolved.kernel)) {
        return resolved;
    }
    struct store_configuration configuration;
    fill_configuration(launch, &place, &sighting, &configuration);
    bool ask = described && may_ask && may_ask_residency(&facts, &place);
    resolved.configuration = find_or_add(launch, &configuration, ask);
    if (resolved.provisional) {
        remember(launch, place.context, resolved.configuration);
    }
    return resolved;
}

struct resolved resolve_configuration(const struct launch *launch, CUcontext context)
{
    return resolve_when(launch, context, load_acquire(&recorder.captures) == 0);
}

uint32_t resolve(const struct launch *launch, const struct launch_words *words)
{
    struct resolved resolved = resolve_configuration(launch, NULL);
    if (resolved.kernel == STORE_NO_TARGET) {
        recorder_lost(1, STORE_LOSS_NO_SPACE);
        return STORE_NO_TARGET;
    }
    bool runtime = launch->flags & LAUNCH_RUNTIME, further = resolved.configuration == STORE_NO_TARGET;
    uint32_t target =
        further ? STORE_TARGET(runtime ? STORE_FURTHER_RUNTIME : STORE_FURTHER_DIRECT, resolved.kernel)
                : STORE_TARGET(runtime ? STORE_RUNTIME : STORE_DIRECT, resolved.configuration);
    if (words && !resolved.provisional) {
        struct launch_words key = *words;
        if (further) {
            launch_any_shape(&key);
        }
        if (resolved.bound && load_relaxed(&recorder.places) != PLACES_PARTS) {
            key.place = 0;
        }
        recorder_lock_take();
        registry_add_key(launch->function, &key, target);
        recorder_lock_give();
    }
    return target;
}

static bool take_pending(struct pending *entry)
{
    recorder_lock_take();
    bool any = pending_count > 0;
    if (any) {
        *entry = pending[--pending_count];
    }
    recorder_lock_give();
    return any;
}

void resolve_pause(void)
{
    pthread_mutex_lock(&recorder.asking);
}

void resolve_go_on(void)
{
    pthread_mutex_unlock(&recorder.asking);
}

void resolve_pending(void)
{
    KEEP_ERRNO;
    resolve_pause();
    struct pending entry;
    while (load_acquire(&recorder.captures) == 0 && take_pending(&entry)) {
        struct resolved resolved = resolve_configuration(&entry.launch, entry.context);
        recorder_lock_take();
        struct store_configuration *record = store_record(STORE_CONFIGURATIONS, entry.configuration);
        if (resolved.configuration != STORE_NO_TARGET && resolved.configuration != entry.configuration) {
            store_release((_Atomic uint32_t *)&record->same_as, resolved.configuration + 1);
        }
        recorder_lock_give();
    }
    resolve_go_on();
}

void resolve_drop_pending(const void *function)
{
    for (uint32_t i = 0; i < pending_count;) {
        if (function == NULL || pending[i].launch.function == function) {
            pending[i] = pending[--pending_count];
        } else {
            i++;
        }
    }
}
