/* From a launch to its target: the device, the kernel, the configuration, each looked up or described once.
 */
#include "resolve.h"

#include "describe.h"
#include "recorder.h"
#include "records.h"

bool resolve_is_capturing(CUstream stream, uint64_t extras)
{
    const struct driver_queries *driver = driver_query();
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *) =
        (extras & LAUNCH_PER_THREAD) ? driver->cuStreamIsCapturing_ptsz : driver->cuStreamIsCapturing;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return ask && ask(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

uint64_t resolve_place(const struct launch_words *words, CUstream stream)
{
    if (words->extras & LAUNCH_GRAPH) {
        return 0;
    }
    return (uint64_t)(uintptr_t)describe_context(stream);
}

static bool see_kernel(const struct launch *launch, const struct launch_place *place,
                       struct sighting *sighting)
{
    pthread_mutex_lock(&recorder_lock);
    bool seen = registry_seen(launch->function, place->device, sighting);
    enum handle_kind kind = registry_kind(launch->function);
    pthread_mutex_unlock(&recorder_lock);
    if (seen) {
        return true;
    }
    struct kernel_description description;
    describe_kernel(launch->function, kind, place->ordinal, &description);
    *sighting = description.sighting;
    sighting->device = place->device;
    pthread_mutex_lock(&recorder_lock);
    sighting->kernel = records_kernel(description.name, "", &description.kernel);
    if (sighting->kernel != STORE_NO_TARGET) {
        registry_add_sighting(launch->function, sighting);
    }
    pthread_mutex_unlock(&recorder_lock);
    return sighting->kernel != STORE_NO_TARGET;
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
        .valid = sighting->valid,
    };
    effective_cluster(launch, sighting, configuration->cluster);
    if (place->context_sms) {
        configuration->context_sms = place->context_sms;
        configuration->valid |= STORE_CONFIGURATION_CONTEXT_SMS;
    }
}

static uint32_t find_or_describe(const struct launch *launch, struct store_configuration *configuration)
{
    pthread_mutex_lock(&recorder_lock);
    uint32_t number = records_find_configuration(configuration);
    bool full = store_count(STORE_CONFIGURATIONS) >= RECORDS_MOST_CONFIGURATIONS;
    pthread_mutex_unlock(&recorder_lock);
    if (number != STORE_NO_TARGET || full) {
        return number;
    }
    describe_residency(launch, configuration);
    pthread_mutex_lock(&recorder_lock);
    number = records_add_configuration(configuration);
    pthread_mutex_unlock(&recorder_lock);
    return number;
}

static uint32_t target_of(const struct launch *launch, const struct sighting *sighting,
                          uint32_t configuration)
{
    bool runtime = launch->flags & LAUNCH_RUNTIME;
    if (configuration == STORE_NO_TARGET) {
        return STORE_TARGET(runtime ? STORE_FURTHER_RUNTIME : STORE_FURTHER_DIRECT, sighting->kernel);
    }
    return STORE_TARGET(runtime ? STORE_RUNTIME : STORE_DIRECT, configuration);
}

uint32_t resolve(const struct launch *launch, const struct launch_words *words)
{
    struct launch_place place;
    struct sighting sighting;
    describe_place(launch->stream, &place);
    if (!see_kernel(launch, &place, &sighting)) {
        return STORE_NO_TARGET;
    }
    struct store_configuration configuration;
    fill_configuration(launch, &place, &sighting, &configuration);
    uint32_t number = find_or_describe(launch, &configuration);
    uint32_t target = target_of(launch, &sighting, number);
    if (words && number != STORE_NO_TARGET) {
        pthread_mutex_lock(&recorder_lock);
        registry_add_key(launch->function, words, target);
        pthread_mutex_unlock(&recorder_lock);
    }
    return target;
}
