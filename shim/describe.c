/* Devices, contexts, kernels and configurations as the driver describes them. What it does not answer stays
 * unknown: its validity bit stays clear. */
#include "describe.h"

#include <stdio.h>
#include <string.h>

#include "recorder_state.h"

enum { MOST_DEVICES = 256, MOST_CONTEXTS = 64 };

static _Atomic uint32_t device_records[MOST_DEVICES]; /* index + 1 by ordinal */
static struct launch_place contexts[MOST_CONTEXTS];
static uint32_t context_count;

void describe_forget_devices(void)
{
    memset(device_records, 0, sizeof device_records);
    context_count = 0;
}

void describe_forget_contexts(void)
{
    context_count = 0;
}

#define ASK(query, ...) (driver_query()->query && driver_query()->query(__VA_ARGS__) == CUDA_SUCCESS)

static void describe_uuid(CUdevice ordinal, struct store_device *device)
{
    CUuuid uuid;
    if (ASK(cuDeviceGetUuid_v2, &uuid, ordinal) || ASK(cuDeviceGetUuid, &uuid, ordinal)) {
        memcpy(device->uuid, uuid.bytes, sizeof device->uuid);
        device->valid |= 1u << 16;
    }
}

static void describe_device(CUdevice ordinal, struct store_device *device)
{
    *device = (struct store_device){.ordinal = (uint32_t)ordinal};
    int major = 0, minor = 0, value, bit = 0;
    if (ASK(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, ordinal) &&
        ASK(cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, ordinal)) {
        device->compute_capability = (uint32_t)(10 * major + minor);
    }
    if (!ASK(cuDeviceGetName, device->name, (int)sizeof device->name, ordinal)) {
        device->name[0] = '\0';
    }
    device->name[sizeof device->name - 1] = '\0';
    if (strstr(device->name, " MIG ")) {
        device->flags |= STORE_DEVICE_MIG;
    }
#define LIMIT(field, attribute)                                                                              \
    if (ASK(cuDeviceGetAttribute, &value, attribute, ordinal)) {                                             \
        device->field = (uint32_t)value;                                                                     \
        device->valid |= 1u << bit;                                                                          \
    }                                                                                                        \
    bit++;
#include "device_limits.def"
    describe_uuid(ordinal, device);
    size_t bytes;
    if (ASK(cuDeviceTotalMem_v2, &bytes, ordinal)) {
        device->memory_bytes = bytes;
        device->valid |= 1u << 17;
    }
    device->check = store_check(device, offsetof(struct store_device, check));
}

static uint32_t device_record(CUdevice ordinal)
{
    if (ordinal < 0 || ordinal >= MOST_DEVICES) {
        return STORE_NO_TARGET;
    }
    _Atomic uint32_t *record = &device_records[ordinal];
    if (load_acquire(record) == 0) {
        struct store_device device;
        describe_device(ordinal, &device);
        recorder_lock_take();
        if (load_relaxed(record) == 0) {
            store_release(record, store_add(STORE_DEVICES, &device) + 1);
        }
        recorder_lock_give();
    }
    return load_acquire(record) - 1;
}

CUcontext describe_current_context(void)
{
    CUcontext context = NULL;
    return ASK(cuCtxGetCurrent, &context) ? context : NULL;
}

/* A stream belongs to a context; 0, 1 and 2 stand for default streams of the current one. */
CUcontext describe_context(CUstream stream)
{
    CUcontext context = NULL;
    if ((uintptr_t)stream > 2 && ASK(cuStreamGetCtx, stream, &context)) {
        return context;
    }
    return describe_current_context();
}

static bool device_of_context(CUcontext context, CUdevice *ordinal)
{
    if (describe_current_context() == context) {
        return ASK(cuCtxGetDevice, ordinal);
    }
    if (!ASK(cuCtxPushCurrent_v2, context)) {
        return false;
    }
    bool known = ASK(cuCtxGetDevice, ordinal);
    CUcontext popped;
    (void)ASK(cuCtxPopCurrent_v2, &popped);
    return known;
}

static uint32_t sms_of_context(CUcontext context)
{
    CUdevResource resource;
    memset(&resource, 0, sizeof resource);
    return ASK(cuCtxGetDevResource, context, &resource, CU_DEV_RESOURCE_TYPE_SM) ? resource.sm.smCount : 0;
}

static bool known_context(CUcontext context, struct launch_place *place)
{
    bool known = false;
    recorder_lock_take();
    for (uint32_t i = 0; i < context_count && !known; i++) {
        if (contexts[i].context == context) {
            *place = contexts[i];
            known = true;
        }
    }
    recorder_lock_give();
    return known;
}

CUcontext describe_context_of_device(CUdevice ordinal)
{
    CUcontext context = NULL;
    recorder_lock_take();
    for (uint32_t i = 0; i < context_count; i++) {
        context = contexts[i].ordinal == ordinal ? contexts[i].context : context;
    }
    recorder_lock_give();
    return context;
}

void describe_place(CUcontext context, struct launch_place *place)
{
    if (known_context(context, place)) {
        return;
    }
    *place = (struct launch_place){.context = context, .device = STORE_NO_TARGET};
    if (context == NULL || !device_of_context(context, &place->ordinal)) {
        return;
    }
    place->device = device_record(place->ordinal);
    place->context_sms = sms_of_context(context);
    recorder_lock_take();
    if (context_count < MOST_CONTEXTS) {
        contexts[context_count++] = *place;
    }
    recorder_lock_give();
}

static bool attribute(void *handle, enum handle_kind kind, CUdevice ordinal, CUfunction_attribute name,
                      int *value)
{
    return kind == HANDLE_KERNEL ? ASK(cuKernelGetAttribute, value, name, (CUkernel)handle, ordinal)
                                 : ASK(cuFuncGetAttribute, value, name, (CUfunction)handle);
}

static void describe_cluster(void *handle, enum handle_kind kind, CUdevice ordinal,
                             struct kernel_description *description)
{
    static const CUfunction_attribute names[3] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                                  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                                  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
    int value[3];
    for (int i = 0; i < 3; i++) {
        if (!attribute(handle, kind, ordinal, names[i], &value[i])) {
            return;
        }
    }
    for (int i = 0; i < 3; i++) {
        description->kernel.required_cluster[i] = description->sighting.required_cluster[i] =
            (uint32_t)value[i];
    }
    description->kernel.valid |= STORE_KERNEL_CLUSTER;
}

static void describe_attributes(void *handle, enum handle_kind kind, CUdevice ordinal,
                                struct kernel_description *description)
{
    struct store_kernel *kernel = &description->kernel;
    const struct {
        uint32_t *field;
        CUfunction_attribute name;
    } attributes[] = {
        {&kernel->registers_per_thread, CU_FUNC_ATTRIBUTE_NUM_REGS},
        {&kernel->static_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
        {&kernel->local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
        {&kernel->constant_bytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES},
        {&kernel->max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
        {&kernel->binary_version, CU_FUNC_ATTRIBUTE_BINARY_VERSION},
        {&kernel->ptx_version, CU_FUNC_ATTRIBUTE_PTX_VERSION},
    };
    int value;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (!attribute(handle, kind, ordinal, attributes[i].name, &value)) {
            return;
        }
        *attributes[i].field = (uint32_t)value;
    }
    kernel->valid |= STORE_KERNEL_ATTRIBUTES;
    struct sighting *sighting = &description->sighting;
    int carveout;
    if (attribute(handle, kind, ordinal, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &value) &&
        attribute(handle, kind, ordinal, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &carveout)) {
        sighting->max_dynamic_shared_bytes = (uint32_t)value;
        sighting->carveout_percent = carveout;
        sighting->valid |= STORE_CONFIGURATION_ATTRIBUTES;
    }
}

void describe_unasked(void *handle, const struct handle_facts *facts, struct kernel_description *description)
{
    memset(description, 0, sizeof *description);
    description->name = facts->name;
    if (description->name[0] == '\0') {
        snprintf(description->made_name, sizeof description->made_name, "kernel_%p", handle);
        description->name = description->made_name;
        description->kernel.valid |= STORE_KERNEL_UNNAMED;
    }
}

static bool driver_name(void *handle, enum handle_kind kind, const char **name)
{
    bool named = kind == HANDLE_KERNEL ? ASK(cuKernelGetName, name, (CUkernel)handle)
                                       : ASK(cuFuncGetName, name, (CUfunction)handle);
    return named && *name && **name;
}

void describe_kernel(void *handle, const struct handle_facts *facts, CUdevice ordinal,
                     struct kernel_description *description)
{
    struct handle_facts known = *facts;
    if (known.kind != HANDLE_UNKNOWN) {
        const char *name;
        known.name = driver_name(handle, known.kind, &name) ? name : known.name;
    }
    describe_unasked(handle, &known, description);
    if (known.kind != HANDLE_UNKNOWN) {
        describe_attributes(handle, known.kind, ordinal, description);
        describe_cluster(handle, known.kind, ordinal, description);
    }
}

static bool max_active_clusters(const struct launch *launch, const uint32_t cluster[3], int *clusters)
{
    CUlaunchAttribute size = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                              .value.clusterDim = {cluster[0], cluster[1], cluster[2]}};
    CUlaunchConfig config = {
        .gridDimX = launch->grid[0],
        .gridDimY = launch->grid[1],
        .gridDimZ = launch->grid[2],
        .blockDimX = launch->block[0],
        .blockDimY = launch->block[1],
        .blockDimZ = launch->block[2],
        .sharedMemBytes = launch->shared_bytes,
        .hStream = launch->stream,
        .attrs = &size,
        .numAttrs = 1,
    };
    return ASK(cuOccupancyMaxActiveClusters, clusters, (CUfunction)launch->function, &config);
}

void describe_residency(const struct launch *launch, struct store_configuration *configuration)
{
    const uint32_t *block = configuration->block, *cluster = configuration->cluster;
    int value;
    if (ASK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &value, (CUfunction)launch->function,
            (int)(block[0] * block[1] * block[2]), launch->shared_bytes, 0)) {
        configuration->driver_blocks_per_sm = (uint32_t)value;
        configuration->valid |= STORE_CONFIGURATION_BLOCKS;
    }
    if (cluster[0] * cluster[1] * cluster[2] > 1 && max_active_clusters(launch, cluster, &value)) {
        configuration->driver_max_active_clusters = (uint32_t)value;
        configuration->valid |= STORE_CONFIGURATION_CLUSTERS;
    }
}
