/* The driver's own words about its devices, through a dlopened libcuda.so.1: no driver is no error. */
#include "verbs/driver_devices.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Numbers of CUdevice_attribute in cuda.h, part of the driver's stable interface. */
enum {
    ATTRIBUTE_SMS = 16,
    ATTRIBUTE_THREADS_PER_SM = 39,
    ATTRIBUTE_MAJOR = 75,
    ATTRIBUTE_MINOR = 76,
    ATTRIBUTE_SHARED_PER_SM = 81,
    ATTRIBUTE_REGISTERS_PER_SM = 82,
    ATTRIBUTE_SHARED_PER_BLOCK_OPTIN = 97,
    ATTRIBUTE_BLOCKS_PER_SM = 106
};

struct driver {
    int (*init)(unsigned flags);
    int (*count)(int *count);
    int (*get)(int *device, int ordinal);
    int (*name)(char *name, int length, int device);
    int (*attribute)(int *value, int attribute, int device);
    int (*memory)(size_t *bytes, int device);
};

static bool load(struct driver *driver, void *library)
{
    const struct {
        const char *symbol;
        void **function;
    } wanted[] = {{"cuInit", (void **)&driver->init},
                  {"cuDeviceGetCount", (void **)&driver->count},
                  {"cuDeviceGet", (void **)&driver->get},
                  {"cuDeviceGetName", (void **)&driver->name},
                  {"cuDeviceGetAttribute", (void **)&driver->attribute},
                  {"cuDeviceTotalMem_v2", (void **)&driver->memory}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].function = dlsym(library, wanted[i].symbol);
        if (!*wanted[i].function) {
            return false;
        }
    }
    return true;
}

static int attribute_or(const struct driver *driver, int device, int attribute, int otherwise)
{
    int value;
    return driver->attribute(&value, attribute, device) == 0 ? value : otherwise;
}

static bool read_device(const struct driver *driver, int ordinal, struct driver_device *found)
{
    int device, major, minor;
    size_t memory_bytes = 0;
    if (driver->get(&device, ordinal) != 0 ||
        driver->name(found->name, (int)sizeof found->name - 1, device) != 0 ||
        driver->attribute(&major, ATTRIBUTE_MAJOR, device) != 0 ||
        driver->attribute(&minor, ATTRIBUTE_MINOR, device) != 0 ||
        driver->attribute(&found->sms, ATTRIBUTE_SMS, device) != 0) {
        return false;
    }
    found->ordinal = ordinal;
    found->compute_capability = 10 * major + minor;
    found->threads_per_sm = attribute_or(driver, device, ATTRIBUTE_THREADS_PER_SM, -1);
    found->shared_per_sm_bytes = attribute_or(driver, device, ATTRIBUTE_SHARED_PER_SM, -1);
    found->registers_per_sm = attribute_or(driver, device, ATTRIBUTE_REGISTERS_PER_SM, -1);
    found->shared_per_block_optin_bytes = attribute_or(driver, device, ATTRIBUTE_SHARED_PER_BLOCK_OPTIN, -1);
    found->blocks_per_sm = attribute_or(driver, device, ATTRIBUTE_BLOCKS_PER_SM, -1);
    driver->memory(&memory_bytes, device);
    found->memory_bytes = memory_bytes;
    found->simulated = strstr(found->name, "(simulated)") != NULL;
    return true;
}

void driver_devices_read(struct driver_devices *found)
{
    struct driver driver;
    int status, count = 0;
    *found = (struct driver_devices){.count = 0};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(found->reason, sizeof found->reason, "no driver: %s", dlerror());
    } else if (!load(&driver, library)) {
        snprintf(found->reason, sizeof found->reason,
                 "libcuda.so.1 lacks a function of the driver interface");
    } else if ((status = driver.init(0)) != 0 || (status = driver.count(&count)) != 0) {
        snprintf(found->reason, sizeof found->reason, "the driver answers with error %d%s", status,
                 status == 100 ? ": no device" : "");
    }
    for (int i = 0; i < count && found->count < DRIVER_DEVICES_MAX; i++) {
        found->count += read_device(&driver, i, &found->devices[found->count]);
    }
    if (!found->count && !*found->reason) {
        snprintf(found->reason, sizeof found->reason, "the driver tells of no device");
    }
}
