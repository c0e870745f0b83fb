/* From result codes and mapped libraries to a cause and a way out. The tables are faults.def and
 * neighbours.def. */
#include "cupti/diagnose.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    CUptiResult result;
    const char *cause, *way_out;
} faults[] = {
#define CUPTI_FAULT(result, cause, way_out) {result, cause, way_out},
#include "cupti/faults.def"
#undef CUPTI_FAULT
};

static const struct {
    const char *part, *tool;
} neighbours[] = {
#define NEIGHBOUR(part, tool) {part, tool},
#include "cupti/neighbours.def"
#undef NEIGHBOUR
};

void diagnose_result(char *line, size_t size, const char *what, const struct cupti_api *api,
                     CUptiResult result)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (faults[i].result == result) {
            snprintf(line, size, "%s: %s: %s", what, faults[i].cause, faults[i].way_out);
            return;
        }
    }
    const char *name = NULL;
    if (api && api->cuptiGetResultString) {
        api->cuptiGetResultString(result, &name);
    }
    snprintf(line, size, "%s: CUPTI answered %s (%d): theoretical figures go on", what,
             name ? name : "an error", (int)result);
}

static int match_library(struct dl_phdr_info *info, size_t size, void *tool)
{
    (void)size;
    for (size_t i = 0; i < sizeof neighbours / sizeof *neighbours; i++) {
        if (info->dlpi_name && strstr(info->dlpi_name, neighbours[i].part)) {
            *(const char **)tool = neighbours[i].tool;
            return 1;
        }
    }
    return 0;
}

static bool being_traced(void)
{
    char status[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, status, sizeof status - 1);
    if (fd >= 0) {
        close(fd);
    }
    if (length <= 0) {
        return false;
    }
    status[length] = 0;
    const char *tracer = strstr(status, "TracerPid:\t");
    return tracer && tracer[strlen("TracerPid:\t")] != '0';
}

const char *diagnose_neighbour(void)
{
    const char *tool = NULL;
    dl_iterate_phdr(match_library, &tool);
    return tool ? tool : being_traced() ? "a debugger" : NULL;
}

CUptiResult diagnose_unsupported(const CUpti_Profiler_DeviceSupported_Params *support)
{
    const struct {
        CUpti_Profiler_Support_Level level;
        CUptiResult result;
    } flags[] = {
        {support->vGpu, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED},
        {support->confidentialCompute, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED},
        {support->sli, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED},
        {support->cmp, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED},
        {support->wsl, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED},
        {support->architecture, CUPTI_ERROR_NOT_SUPPORTED},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (flags[i].level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
            return flags[i].result;
        }
    }
    return CUPTI_ERROR_NOT_SUPPORTED;
}
