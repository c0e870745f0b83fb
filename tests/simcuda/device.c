/* The devices that this process sees, and what can be asked about them. */
#include "device.h"

#include "require.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct device_model models[] = {
#define DEVICE(name, product, capability, sms, memory_mib, l2_kib, clock, memory_clock, bus, ...)            \
    {#name, product, capability, sms, memory_mib, l2_kib, clock, memory_clock, bus, {__VA_ARGS__}},
#include "devices.def"
#undef DEVICE
};

static const struct device_capability capabilities[] = {
#define CAPABILITY(...) {__VA_ARGS__},
#include "capabilities.def"
#undef CAPABILITY
};

static struct device devices[MAX_DEVICES];
static int devices_count;

int device_count(void)
{
    return devices_count;
}

struct device *device_of(CUdevice ordinal)
{
    return ordinal >= 0 && ordinal < devices_count ? &devices[ordinal] : NULL;
}

static const struct device_model *model_named(const char *name)
{
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        if (strcasecmp(models[i].name, name) == 0) {
            return &models[i];
        }
    }
    return NULL;
}

static const struct device_capability *capability_of(const struct device_model *model)
{
    const struct device_capability *sm = capabilities;
    while (sm->capability != model->capability) {
        sm++;
    }
    return sm;
}

/* One of the machine's devices becomes the next one of the process. `slot` is its number in the machine. */
static void device_add(const struct device_model *model, int slot)
{
    struct device *device = &devices[devices_count];
    device->ordinal = devices_count++;
    device->model = model;
    device->sm = capability_of(model);
    snprintf(device->name, sizeof(device->name), "%s (simulated)", model->product);
    snprintf(device->uuid.bytes, sizeof(device->uuid.bytes), "sim-%02d-%s", slot, model->name);
}

/* The numbers in CUDA_VISIBLE_DEVICES pick and order devices; the first one that names none ends the list. */
static void devices_add_visible(const struct device_model *const *machine, int machine_count)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (!visible) {
        for (int slot = 0; slot < machine_count; slot++) {
            device_add(machine[slot], slot);
        }
        return;
    }
    while (devices_count < MAX_DEVICES) {
        char *end;
        long slot = strtol(visible, &end, 10);
        if (end == visible || slot < 0 || slot >= machine_count) {
            return;
        }
        device_add(machine[slot], (int)slot);
        if (*end != ',') {
            return;
        }
        visible = end + 1;
    }
}

CUresult devices_init(void)
{
    const char *list = getenv("SIMCUDA_DEVICES");
    char names[1024];
    snprintf(names, sizeof(names), "%s", list && *list ? list : "h200");
    const struct device_model *machine[MAX_DEVICES];
    int machine_count = 0;
    char *rest = names;
    for (char *name; (name = strsep(&rest, ",")) && machine_count < MAX_DEVICES;) {
        const struct device_model *model = model_named(name);
        if (!model) {
            fprintf(stderr, "simcuda: device %s: not one of tests/simcuda/devices.def\n", name);
            return CUDA_ERROR_NO_DEVICE;
        }
        machine[machine_count++] = model;
    }
    devices_count = 0;
    devices_add_visible(machine, machine_count);
    return devices_count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

int device_attribute(const struct device *device, CUdevice_attribute attribute, int *value)
{
    const struct device_model *model = device->model;
    const struct device_capability *sm = device->sm;
    switch ((int)attribute) {
#define ATTRIBUTE(name, expression)                                                                          \
    case CU_DEVICE_ATTRIBUTE_##name:                                                                         \
        *value = (expression);                                                                               \
        return true;
#include "attributes.def"
#undef ATTRIBUTE
    default:
        return false;
    }
}

/* --- exported ------------------------------------------------------------------------------------------ */

CUresult CUDAAPI cuDeviceGet(CUdevice *handle, int ordinal)
{
    ENTER(cuDeviceGet);
    REQUIRE(handle);
    REQUIRE_DEVICE(device, ordinal);
    *handle = device->ordinal;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
    ENTER(cuDeviceGetCount);
    REQUIRE(count);
    *count = devices_count;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetName(char *name, int bytes, CUdevice ordinal)
{
    ENTER(cuDeviceGetName);
    REQUIRE(name && bytes > 0);
    REQUIRE_DEVICE(device, ordinal);
    snprintf(name, (size_t)bytes, "%s", device->name);
    return CUDA_SUCCESS;
}

static CUresult uuid_of(CUuuid *uuid, CUdevice ordinal)
{
    REQUIRE(uuid);
    REQUIRE_DEVICE(device, ordinal);
    *uuid = device->uuid;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal)
{
    ENTER(cuDeviceGetUuid);
    return uuid_of(uuid, ordinal);
}

CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal)
{
    ENTER(cuDeviceGetUuid_v2);
    return uuid_of(uuid, ordinal);
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal)
{
    ENTER(cuDeviceTotalMem_v2);
    REQUIRE(bytes);
    REQUIRE_DEVICE(device, ordinal);
    *bytes = (size_t)device->model->memory_mib << 20;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal)
{
    ENTER(cuDeviceGetAttribute);
    REQUIRE(value);
    REQUIRE_DEVICE(device, ordinal);
    return device_attribute(device, attribute, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal)
{
    ENTER(cuDeviceComputeCapability);
    REQUIRE(major && minor);
    REQUIRE_DEVICE(device, ordinal);
    *major = device->model->capability / 10;
    *minor = device->model->capability % 10;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetProperties(CUdevprop *properties, CUdevice ordinal)
{
    ENTER(cuDeviceGetProperties);
    REQUIRE(properties);
    REQUIRE_DEVICE(device, ordinal);
    *properties = (CUdevprop){
        .maxThreadsPerBlock = MAX_THREADS_PER_BLOCK,
        .maxThreadsDim = {MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z},
        .maxGridSize = {MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ},
        .sharedMemPerBlock = SHARED_WITHOUT_OPTIN_BYTES,
        .totalConstantMemory = 65536,
        .SIMDWidth = WARP_THREADS,
        .memPitch = 2147483647,
        .regsPerBlock = REGISTERS_PER_SM,
        .clockRate = device->model->clock_khz,
        .textureAlign = 512,
    };
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *text, int bytes, CUdevice ordinal)
{
    ENTER(cuDeviceGetPCIBusId);
    REQUIRE(text && bytes > 0);
    REQUIRE_DEVICE(device, ordinal);
    snprintf(text, (size_t)bytes, "0000:%02X:00.0", PCI_BUS_OF_FIRST + ordinal);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *handle, const char *text)
{
    ENTER(cuDeviceGetByPCIBusId);
    REQUIRE(handle && text);
    const char *colon = strrchr(text, ':');
    const char *bus = colon && colon - text > 2 ? colon - 2 : text;
    long ordinal = strtol(bus, NULL, 16) - PCI_BUS_OF_FIRST;
    REQUIRE_DEVICE(device, (int)ordinal);
    *handle = device->ordinal;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice ordinal)
{
    ENTER(cuDeviceGetExecAffinitySupport);
    REQUIRE(supported && type < CU_EXEC_AFFINITY_TYPE_MAX);
    REQUIRE_DEVICE(device, ordinal);
    *supported = 0;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetTexture1DLinearMaxWidth(size_t *elements, CUarray_format format,
                                                    unsigned channels, CUdevice ordinal)
{
    ENTER(cuDeviceGetTexture1DLinearMaxWidth);
    REQUIRE(elements && channels);
    REQUIRE_DEVICE(device, ordinal);
    (void)format;
    *elements = 268435456 / channels;
    return CUDA_SUCCESS;
}
