/* The plugin's entry: finds CUPTI, chooses what measures, and says once what cannot be had. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cupti/diagnose.h"
#include "cupti/plugin_state.h"
#include "cupti/subscribe.h"
#include "shim/elf_object.h"

const uint32_t warpwatch_plugin_version = PLUGIN_VERSION;
struct plugin_services plugin;
struct cupti_api cupti;

static bool defines(const struct elf_object *object, const void *name)
{
    return elf_object_symbol(object, name) != NULL;
}

void *plugin_loaded_function(const char *name)
{
    struct elf_object object;
    return elf_object_find(defines, name, &object) ? elf_object_symbol(&object, name) : NULL;
}

uint64_t plugin_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void *by_configuration(struct by_configuration *table, uint32_t configuration)
{
    if (configuration >= BY_CONFIGURATION_LIMIT) {
        return NULL;
    }
    if (!table->pages) {
        table->pages = calloc(BY_CONFIGURATION_LIMIT / BY_CONFIGURATION_PAGE, sizeof *table->pages);
    }
    void **page = table->pages ? &table->pages[configuration / BY_CONFIGURATION_PAGE] : NULL;
    if (page && !*page) {
        *page = calloc(BY_CONFIGURATION_PAGE, table->entry_bytes);
    }
    return page && *page ? (char *)*page + configuration % BY_CONFIGURATION_PAGE * table->entry_bytes : NULL;
}

bool plugin_find_cupti(char *why, size_t size)
{
    int version = 0;
    const char *neighbour = diagnose_neighbour();
    if (neighbour) {
        snprintf(why, size, "%s is attached to this process: run without it", neighbour);
        return false;
    }
    CUresult (*driver_version)(int *) = (CUresult(*)(int *))plugin.driver_symbol("cuDriverGetVersion");
    if (driver_version) {
        driver_version(&version);
    }
    const struct cupti_loader_services services = {plugin.library_open, plugin.library_symbol, version};
    if (cupti_load(&services, &cupti)) {
        return true;
    }
    snprintf(
        why, size,
        "no libcupti found (last tried: %s): install the CUDA toolkit's CUPTI or set WARPWATCH_CUPTI=PATH",
        cupti.path);
    return false;
}

static const struct plugin_hooks *open_measuring(char *why, size_t size)
{
    if (!plugin_find_cupti(why, size)) {
        return NULL;
    }
    if (subscribed_by_other(why, size)) {
        return NULL;
    }
    return plugin.settings.counters ? counters_open(why, size) : timing_open(why, size);
}

/* Counters carry the duration too (Set A), and the two CUPTI interfaces are not known to work together: with
 * both asked for, counters measure. Without CUPTI, a few event pairs still give times. */
const struct plugin_hooks *warpwatch_plugin_open(const struct plugin_services *services)
{
    char why[4096 + 256] = "", line[4096 + 512];
    plugin = *services;
    const struct plugin_hooks *hooks = open_measuring(why, sizeof why);
    if (hooks) {
        return hooks;
    }
    const struct plugin_hooks *fallback = plugin.settings.timing ? events_open(why, sizeof why) : NULL;
    snprintf(line, sizeof line, "not measured by CUPTI: %s%s", why,
             fallback ? "; times are estimated from a few event pairs" : "");
    plugin.complain(line);
    return fallback;
}
