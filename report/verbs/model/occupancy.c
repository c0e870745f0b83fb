/* `warpwatch model occupancy`: blocks per SM, what limits them, what would lift it, and how the grid fills
 * the device. */
#include <limits.h>
#include <string.h>

#include "model/lift.h"
#include "verbs/model/common_parameters.h"
#include "verbs/model/model.h"
#include "verbs/model/occupancy.h"

enum {
    CC,
    DEVICE,
    THREADS,
    REGISTERS,
    STATIC_SHARED,
    DYNAMIC_SHARED,
    BARRIERS,
    CARVEOUT,
    GRID,
    CLUSTER,
    NAME,
    PARAMETERS
};

static const struct parameter parameters[PARAMETERS] = {
    [CC] = {PARAMETER_ROW_CC},
    [DEVICE] = {PARAMETER_ROW_DEVICE},
    [THREADS] = {.name = "threads",
                 .kind = PARAMETER_INTEGER,
                 .least = 1,
                 .most = 1024,
                 .help = "threads of a block",
                 .required = true},
    [REGISTERS] = {PARAMETER_ROW_REGISTERS},
    [STATIC_SHARED] = {PARAMETER_ROW_STATIC_SHARED},
    [DYNAMIC_SHARED] = {.name = "dynamic_shared",
                        .kind = PARAMETER_INTEGER,
                        .least = 0,
                        .most = 232448,
                        .help = "bytes of a block"},
    [BARRIERS] = {.name = "barriers",
                  .kind = PARAMETER_INTEGER,
                  .least = 0,
                  .most = 16,
                  .help = "barriers of a block"},
    [CARVEOUT] = {.name = "carveout",
                  .kind = PARAMETER_INTEGER,
                  .least = -1,
                  .most = 100,
                  .help = "percent of the SM's shared memory, -1 for the driver's choice"},
    [GRID] = {.name = "grid", .kind = PARAMETER_BLOCKS, .help = "with --device, also waves and tail"},
    [CLUSTER] = {.name = "cluster",
                 .kind = PARAMETER_INTEGER,
                 .least = 1,
                 .most = CLUSTER_BLOCKS_MAX,
                 .help = "blocks of a cluster"},
    [NAME] = {PARAMETER_ROW_NAME},
};

static const char *const csv_columns[] = {
    "blocks_per_sm", "theoretical_occupancy", "limiters", "slots", "waves", "tail_waste", NULL};

static bool refuse(struct answer *answer, int parameter, const char *problem)
{
    answer_refuse(answer, parameter, "%s", problem);
    return false;
}

static bool find_sm(const struct argument *arguments, struct modelled_launch *modelled, struct answer *answer)
{
    struct chosen_device chosen;
    if (!device_parameters_read(arguments, (struct device_parameters){DEVICE, CC, -1}, &chosen, answer)) {
        return false;
    }
    modelled->device = chosen.device;
    return occupancy_sm_of_capability(chosen.compute_capability, &modelled->sm);
}

static bool find_launch(const struct argument *arguments, struct modelled_launch *modelled,
                        struct answer *answer)
{
    if (!arguments[THREADS].given) {
        return refuse(answer, THREADS, ": is missing; give a whole number from 1 to 1024");
    }
    modelled->launch = (struct occupancy_launch){
        .threads = (int)arguments[THREADS].integer,
        .registers_per_thread = (int)arguments[REGISTERS].integer,
        .static_shared_bytes = (int)arguments[STATIC_SHARED].integer,
        .dynamic_shared_bytes = (int)arguments[DYNAMIC_SHARED].integer,
        .barriers = (int)arguments[BARRIERS].integer,
        .carveout_percent = arguments[CARVEOUT].given ? (int)arguments[CARVEOUT].integer : -1,
        .max_dynamic_shared_bytes = -1,
    };
    modelled->blocks = arguments[GRID].given ? (uint64_t)arguments[GRID].integer : 0;
    modelled->cluster_blocks = arguments[CLUSTER].given ? (int)arguments[CLUSTER].integer : 1;
    if (modelled->cluster_blocks > 1 && modelled->sm.compute_capability < CLUSTER_CAPABILITY) {
        return refuse(answer, CLUSTER, ": give 1; clusters need compute capability 9.0 or newer");
    }
    if (modelled->blocks % (uint64_t)modelled->cluster_blocks) {
        return refuse(answer, GRID, ": give a whole multiple of the cluster's blocks");
    }
    return true;
}

/* Clusters: as many as an even spread over the GPCs holds, for want of a driver to ask. */
static void place_clusters(struct modelled_launch *modelled)
{
    const struct device *device = modelled->device;
    const struct cluster_device shape = {device->sms, device->gpcs, device->sms_per_gpc};
    uint64_t unlimited = modelled->slots;
    modelled->resident = clusters_active(&shape, modelled->cluster_blocks, modelled->occupancy.blocks_per_sm);
    modelled->slots = (uint64_t)modelled->resident.even * (uint64_t)modelled->cluster_blocks;
    if ((uint64_t)modelled->resident.most * (uint64_t)modelled->cluster_blocks < unlimited) {
        modelled->occupancy.limiters |= LIMITER_CLUSTER;
    }
}

static bool compute(const struct argument *arguments, struct modelled_launch *modelled, struct answer *answer)
{
    if (!find_sm(arguments, modelled, answer) || !find_launch(arguments, modelled, answer)) {
        return false;
    }
    if (occupancy_compute(&modelled->sm, &modelled->launch, &modelled->occupancy) != OCCUPANCY_OK) {
        return refuse(answer, THREADS, ": cannot be computed with these values");
    }
    modelled->slots = 0;
    if (modelled->device) {
        modelled->slots = (uint64_t)modelled->device->sms * (unsigned)modelled->occupancy.blocks_per_sm;
        if (modelled->cluster_blocks > 1 && modelled->slots > 0) {
            place_clusters(modelled);
        }
        modelled->waves = waves_of_slots(modelled->blocks, modelled->slots, (unsigned)modelled->device->sms);
    }
    return true;
}

static void answer(const struct argument *arguments, struct answer *answer)
{
    struct modelled_launch m;
    if (!compute(arguments, &m, answer)) {
        return;
    }
    bool waves = modelled_launch_has_waves(&m);
    answer_integer(answer, "blocks_per_sm", m.occupancy.blocks_per_sm);
    answer_number(answer, "theoretical_occupancy", m.occupancy.theoretical_occupancy);
    answer_limiters(answer, "limiters", m.occupancy.limiters);
    answer_integer_if(answer, m.device != NULL, "slots", (int64_t)m.slots);
    answer_number_if(answer, waves, "waves", m.waves.waves);
    answer_number_if(answer, waves, "tail_waste", m.waves.tail_waste);
    answer_integer(answer, "warps_per_sm", m.occupancy.warps_per_sm);
    answer_integer_if(answer, waves, "full_waves", (int64_t)m.waves.full_waves);
    answer_number_if(answer, waves, "tail_fullness", m.waves.tail_fullness);
    answer_integer(answer, "idle_lanes_per_block", waves_idle_lanes_per_block((unsigned)m.launch.threads));
    answer_integer(answer, "registers_per_block_allocated", m.occupancy.registers_per_block_allocated);
    answer_integer(answer, "shared_per_block_allocated_bytes", m.occupancy.shared_per_block_allocated_bytes);
    answer_integer(answer, "shared_configured_bytes", m.occupancy.shared_configured_bytes);
    answer_boolean(answer, "estimated", m.sm.estimated || (m.device && m.cluster_blocks > 1));
}

static void add_limit(cJSON *object, const char *name, int limit)
{
    if (limit == INT_MAX) {
        cJSON_AddNullToObject(object, name);
    } else {
        answer_json_integer(object, name, limit);
    }
}

static cJSON *limits_json(const struct occupancy *occupancy)
{
    cJSON *limits = cJSON_CreateObject();
    add_limit(limits, "threads", occupancy->limit_threads);
    add_limit(limits, "blocks", occupancy->limit_blocks);
    add_limit(limits, "registers", occupancy->limit_registers);
    add_limit(limits, "shared_memory", occupancy->limit_shared_memory);
    add_limit(limits, "barriers", occupancy->limit_barriers);
    return limits;
}

static cJSON *lift_json(const struct lift *lift)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "what", lift_names[lift->changes[0].what]);
    answer_json_integer(object, "to", lift->changes[0].to);
    answer_json_integer(object, "blocks_per_sm", lift->blocks_per_sm);
    answer_json_number(object, "theoretical_occupancy", lift->theoretical_occupancy);
    cJSON_AddBoolToObject(object, "helps", lift->helps);
    cJSON *together = cJSON_AddArrayToObject(object, "with");
    for (int i = 1; i < lift->changes_count; i++) {
        cJSON *other = cJSON_CreateObject();
        cJSON_AddStringToObject(other, "what", lift_names[lift->changes[i].what]);
        answer_json_integer(other, "to", lift->changes[i].to);
        cJSON_AddItemToArray(together, other);
    }
    return object;
}

static void add_details(const struct argument *arguments, cJSON *object)
{
    struct modelled_launch m;
    struct answer ignored;
    struct lift lifts[LIFTS_MAX];
    if (!compute(arguments, &m, &ignored)) {
        return;
    }
    cJSON_AddItemToObject(object, "limits", limits_json(&m.occupancy));
    cJSON *list = cJSON_AddArrayToObject(object, "lift");
    int count = lift_limits(&m.sm, &m.launch, lifts);
    for (int i = 0; i < count; i++) {
        cJSON_AddItemToArray(list, lift_json(&lifts[i]));
    }
    if (m.device && m.cluster_blocks > 1) {
        cJSON *clusters = cJSON_AddObjectToObject(object, "resident_clusters");
        answer_json_integer(clusters, "least", m.resident.least);
        answer_json_integer(clusters, "even", m.resident.even);
        answer_json_integer(clusters, "most", m.resident.most);
    }
}

static void explain(const struct argument *arguments, FILE *stream)
{
    struct modelled_launch m;
    struct answer ignored;
    if (compute(arguments, &m, &ignored)) {
        modelled_launch_explain(&m, stream);
    }
}

const struct model model_occupancy = {
    .name = "occupancy",
    .summary = "blocks that fit on an SM, what limits them, what would lift it, and waves",
    .usage = "--cc 9.0 | --device NAME, --threads N --registers N [--static-shared B --dynamic-shared B\n"
             "       --barriers N --carveout P --grid N --cluster N]",
    .parameters = parameters,
    .parameters_count = PARAMETERS,
    .csv_columns = csv_columns,
    .answer = answer,
    .add_details = add_details,
    .explain = explain,
};
