/* `warpwatch devices`: the GPUs of this machine, as the driver tells, and those that --device may name. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "verbs.h"
#include "verbs/catalog.h"
#include "verbs/driver_devices.h"
#include "verbs/model/answer.h"
#include "verbs/model/text.h"

static void print_help(void)
{
    puts("usage: warpwatch devices [--json] [--devices FILE] [-o FILE]\n\n"
         "Lists the GPUs of this machine, as the driver tells, and those that --device may name.\n\n"
         "  --json           with all figures and their sources\n"
         "  --devices FILE   JSON with more devices, as in WARPWATCH_DEVICES; see docs/devices.md\n"
         "  -o FILE          write there instead of stdout");
}

static void print_text(const struct driver_devices *real, FILE *stream)
{
    char capability[MODEL_TEXT_BYTES];
    fputs("On this machine\n", stream);
    for (int i = 0; i < real->count; i++) {
        const struct driver_device *device = &real->devices[i];
        fprintf(stream, "  %d: %s, %s, %d SMs, %llu MiB\n", device->ordinal, device->name,
                text_capability(device->compute_capability, capability), device->sms,
                (unsigned long long)(device->memory_bytes >> 20));
    }
    if (!real->count) {
        fprintf(stream, "  %s\n", real->reason);
    }
    fputs("\nName         Capability   SMs  Memory  Product and source of the figures\n", stream);
    for (size_t i = 0; i < catalog_count(); i++) {
        const struct device *device = catalog_at(i);
        char memory[MODEL_TEXT_BYTES] = "-";
        if (device->memory_gb) {
            snprintf(memory, sizeof memory, "%d GB", device->memory_gb);
        }
        fprintf(stream, "%-12s %10s %5d %7s  %s (%s)\n", device->name,
                text_capability(device->compute_capability, capability), device->sms, memory, device->product,
                device->source);
    }
}

static void add_count(cJSON *object, const char *name, int64_t value, int64_t unknown)
{
    if (value == unknown) {
        cJSON_AddNullToObject(object, name);
    } else {
        answer_json_integer(object, name, value);
    }
}

static cJSON *real_json(const struct driver_device *device)
{
    char capability[MODEL_TEXT_BYTES];
    cJSON *object = cJSON_CreateObject();
    answer_json_integer(object, "ordinal", device->ordinal);
    cJSON_AddStringToObject(object, "name", device->name);
    cJSON_AddStringToObject(object, "compute_capability",
                            text_capability(device->compute_capability, capability));
    answer_json_integer(object, "sms", device->sms);
    add_count(object, "max_threads_per_sm", device->threads_per_sm, -1);
    add_count(object, "max_blocks_per_sm", device->blocks_per_sm, -1);
    add_count(object, "registers_per_sm", device->registers_per_sm, -1);
    add_count(object, "shared_per_sm_bytes", device->shared_per_sm_bytes, -1);
    add_count(object, "shared_per_block_optin_bytes", device->shared_per_block_optin_bytes, -1);
    add_count(object, "memory_bytes", (int64_t)device->memory_bytes, 0);
    cJSON_AddBoolToObject(object, "simulated", device->simulated);
    return object;
}

static cJSON *listed_json(const struct device *device)
{
    char capability[MODEL_TEXT_BYTES];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", device->name);
    cJSON_AddStringToObject(object, "product", device->product);
    cJSON_AddStringToObject(object, "compute_capability",
                            text_capability(device->compute_capability, capability));
    answer_json_integer(object, "sms", device->sms);
    add_count(object, "memory_gb", device->memory_gb, 0);
    add_count(object, "gpcs", device->gpcs, 0);
    add_count(object, "sms_per_gpc", device->sms_per_gpc, 0);
    cJSON_AddStringToObject(object, "source", device->source);
    return object;
}

static void print_json(const struct driver_devices *real, FILE *stream)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(object, "present");
    for (int i = 0; i < real->count; i++) {
        cJSON_AddItemToArray(list, real_json(&real->devices[i]));
    }
    if (*real->reason) {
        cJSON_AddStringToObject(object, "none_because", real->reason);
    } else {
        cJSON_AddNullToObject(object, "none_because");
    }
    list = cJSON_AddArrayToObject(object, "devices");
    for (size_t i = 0; i < catalog_count(); i++) {
        cJSON_AddItemToArray(list, listed_json(catalog_at(i)));
    }
    char *text = cJSON_Print(object);
    fprintf(stream, "%s\n", text ? text : "null");
    free(text);
    cJSON_Delete(object);
}

int verb_devices(int argc, char **argv)
{
    bool json = false;
    const char *more = NULL, *path = NULL;
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help();
            return EXIT_OK;
        } else if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--devices") == 0 && has_value) {
            more = argv[++i];
        } else if (strcmp(argv[i], "-o") == 0 && has_value) {
            path = argv[++i];
        } else {
            cli_complain("devices '%s': give --json, --devices FILE or -o FILE", argv[i]);
            return EXIT_USAGE;
        }
    }
    struct driver_devices real;
    if (!catalog_load(more)) {
        return EXIT_USAGE;
    }
    driver_devices_read(&real);
    struct cli_output *output = cli_output_open(path);
    if (!output) {
        return EXIT_USAGE;
    }
    if (json) {
        print_json(&real, cli_output_stream(output));
    } else {
        print_text(&real, cli_output_stream(output));
    }
    return cli_output_close(output) ? EXIT_OK : EXIT_UNREADABLE;
}
