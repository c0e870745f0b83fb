/* What a store describes: devices, kernels, configurations, each checked and merged. A record that is damaged
 * or missing gets a stand-in that says so, and the launches that refer to it still count. */
#include <stdio.h>
#include <stdlib.h>

#include "incoming.h"

static bool devices_in(struct incoming *in)
{
    const struct store_device *devices = in->devices.records;
    for (uint32_t i = 0; i < in->devices.count; i++) {
        struct store_device device = devices[i];
        if (device.check != store_check(&device, offsetof(struct store_device, check))) {
            store_file_note(in->file, "the record of a device is damaged");
            device = (struct store_device){.ordinal = i, .name = "unreadable device"};
        }
        in->devices_to[i] = merge_device(in->merged, &device, incoming_process(in)->host);
        if (in->devices_to[i] == MERGED_NONE) {
            return false;
        }
    }
    return true;
}

static uint32_t device_of(struct incoming *in, uint32_t index)
{
    if (index < in->devices.count) {
        return in->devices_to[index];
    }
    const struct store_device missing = {.ordinal = index, .name = "unreadable device"};
    store_file_note(in->file, "the record of a device is missing");
    return merge_device(in->merged, &missing, incoming_process(in)->host);
}

static uint32_t kernel_unreadable(struct incoming *in, uint32_t index)
{
    const struct store_kernel kernel = {.valid = STORE_KERNEL_UNNAMED};
    char name[40];
    snprintf(name, sizeof name, "unreadable kernel %u", index);
    return merge_kernel(in->merged, &kernel, name, NULL, in->process);
}

static uint32_t kernel_in(struct incoming *in, uint32_t index)
{
    const struct store_kernel *kernel = (const struct store_kernel *)in->kernels.records + index;
    bool intact = kernel->check == store_check(kernel, sizeof kernel->name + sizeof kernel->image);
    char *name = intact ? store_file_string(in->file, kernel->name) : NULL;
    char *image = intact && kernel->image.bytes ? store_file_string(in->file, kernel->image) : NULL;
    if (!intact) {
        store_file_note(in->file, "the record of a kernel is damaged");
    }
    uint32_t merged =
        name ? merge_kernel(in->merged, kernel, name, image, in->process) : kernel_unreadable(in, index);
    free(name);
    free(image);
    return merged;
}

static bool kernels_in(struct incoming *in)
{
    for (uint32_t i = 0; i < in->kernels.count; i++) {
        in->kernels_to[i] = kernel_in(in, i);
        if (in->kernels_to[i] == MERGED_NONE) {
            return false;
        }
    }
    return true;
}

uint32_t incoming_kernel(struct incoming *in, uint32_t index)
{
    if (index < in->kernels.count) {
        return in->kernels_to[index];
    }
    store_file_note(in->file, "the record of a kernel is missing");
    return kernel_unreadable(in, index);
}

static bool configuration_intact(const struct store_configuration *configuration)
{
    size_t guarded = offsetof(struct store_configuration, flags) + sizeof configuration->flags;
    return configuration->check == store_check(configuration, guarded);
}

/* The merged configuration, MERGED_NONE where the record is damaged; *held false: out of memory. */
static uint32_t configuration_in(struct incoming *in, const struct store_configuration *configuration,
                                 bool *held)
{
    if (!configuration_intact(configuration)) {
        store_file_note(in->file, "the record of a configuration is damaged");
        return MERGED_NONE;
    }
    uint32_t kernel = incoming_kernel(in, configuration->kernel),
             device = device_of(in, configuration->device);
    uint32_t merged = kernel == MERGED_NONE || device == MERGED_NONE
                          ? MERGED_NONE
                          : merge_configuration(in->merged, configuration, kernel, device);
    *held = merged != MERGED_NONE;
    return merged;
}

/* One that turned out to be another (`same_as`) counts there, if that is an earlier or later one that stands
 * for itself. */
static bool stands_for_another(struct incoming *in, const struct store_configuration *configuration)
{
    const struct store_configuration *all = in->configurations.records;
    uint32_t other = configuration->same_as - 1; /* 0: wraps to a place that is not there */
    return other < in->configurations.count && all[other].same_as == 0 && configuration_intact(&all[other]);
}

static bool configurations_in(struct incoming *in)
{
    const struct store_configuration *all = in->configurations.records;
    bool held = true;
    for (uint32_t i = 0; held && i < in->configurations.count; i++) {
        if (!stands_for_another(in, &all[i])) {
            in->configurations_to[i] = configuration_in(in, &all[i], &held);
        }
    }
    for (uint32_t i = 0; held && i < in->configurations.count; i++) {
        if (stands_for_another(in, &all[i])) {
            in->configurations_to[i] = in->configurations_to[all[i].same_as - 1];
        }
    }
    return held;
}

bool incoming_describe(struct incoming *in)
{
    return devices_in(in) && kernels_in(in) && configurations_in(in);
}
