/* The driver, other profilers, and whether counters may be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "verbs/driver_devices.h"

void doctor_check_driver(struct doctor *doctor)
{
    struct driver_devices devices;
    driver_devices_read(&devices);
    if (devices.count == 0) {
        doctor_add(doctor, DOCTOR_PROBLEM, "driver",
                   "run where a GPU is; `warpwatch scan` and `model` need none", "%s", devices.reason);
    }
    for (int i = 0; i < devices.count; i++) {
        doctor_add(doctor, devices.devices[i].simulated ? DOCTOR_NOTE : DOCTOR_FINE, "device", "", "%d: %s",
                   devices.devices[i].ordinal, devices.devices[i].name);
    }
}

/* Variables that tools set in what they start. */
static const struct {
    const char *variable, *tool;
} tools[] = {
    {"CUDA_INJECTION64_PATH", "a CUPTI tool"},
    {"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
    {"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "Nsight Compute"},
    {"NVTX_INJECTION64_PATH", "an NVTX tool"},
};

void doctor_check_profilers(struct doctor *doctor)
{
    size_t before = doctor->count;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        const char *value = getenv(tools[i].variable);
        if (value && *value) {
            doctor_add(doctor, DOCTOR_NOTE, "profilers",
                       "launches are counted beside it; --timing and --counters step back",
                       "%s is attached (%s=%s)", tools[i].tool, tools[i].variable, value);
        }
    }
    if (doctor->count == before) {
        doctor_add(doctor, DOCTOR_FINE, "profilers", "", "none is attached by environment");
    }
}

static long nvidia_parameter(const char *name)
{
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/driver/nvidia/params", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && (size_t)(colon - line) == strlen(name) && strncmp(line, name, strlen(name)) == 0) {
            value = strtol(colon + 1, NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return value;
}

static unsigned long long effective_capabilities(void)
{
    char line[256];
    unsigned long long capabilities = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "CapEff:", 7) == 0) {
            capabilities = strtoull(line + 7, NULL, 16);
        }
    }
    if (file) {
        fclose(file);
    }
    return capabilities;
}

#define CAP_SYS_ADMIN_BIT 21 /* capability.h of Linux */

void doctor_check_counters(struct doctor *doctor)
{
    long admin_only = nvidia_parameter("RmProfilingAdminOnly");
    if (admin_only < 0) {
        doctor_add(doctor, DOCTOR_NOTE, "counters", "",
                   "not known: the kernel driver is not loaded; --timing and the default need no permission");
    } else if (admin_only == 0 || effective_capabilities() >> CAP_SYS_ADMIN_BIT & 1) {
        doctor_add(doctor, DOCTOR_FINE, "counters", "", "permitted: --counters will measure");
    } else {
        doctor_add(doctor, DOCTOR_NOTE, "counters",
                   "run as root or with CAP_SYS_ADMIN, or load the driver with "
                   "NVreg_RestrictProfilingToAdminUsers=0",
                   "reserved to administrators: --counters will not measure, all else works");
    }
}
