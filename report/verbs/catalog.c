/* The catalog of GPUs: built-in ones and those from a JSON file. */
#include "verbs/catalog.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "model/occupancy.h"
#include "names/visible.h"

enum { FILE_BYTES_MAX = 1 << 20, SMS_MAX = 4096, MEMORY_GB_MAX = 1 << 20 };

/* Kept until the program ends. */
static struct {
    cJSON *root;
    struct device *devices;
    size_t count;
} added;

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "r");
    char *text = malloc(FILE_BYTES_MAX + 1);
    if (!file || !text) {
        cli_complain("devices '%s': %s", path, strerror(errno));
        if (file) {
            fclose(file);
        }
        free(text);
        return NULL;
    }
    *bytes = fread(text, 1, FILE_BYTES_MAX + 1, file);
    bool failed = ferror(file) || *bytes > FILE_BYTES_MAX;
    if (failed) {
        cli_complain("devices '%s': %s", path, ferror(file) ? strerror(errno) : "larger than 1 MiB");
        free(text);
    }
    fclose(file);
    return failed ? NULL : text;
}

/* Text that may be shown as it is. */
static bool is_text(const cJSON *item)
{
    return cJSON_IsString(item) && *item->valuestring && is_visible(item->valuestring);
}

/* One that a name given as an option can match. */
static bool is_name(const cJSON *item)
{
    return is_text(item) && device_name_matches(item->valuestring, item->valuestring);
}

/* A whole number in [least, most]; absent counts as `otherwise`, unless that is negative. */
static bool read_count(const cJSON *entry, const char *key, int least, int most, int otherwise, int *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(entry, key);
    *value = otherwise;
    if (!item) {
        return otherwise >= 0;
    }
    *value = cJSON_IsNumber(item) ? item->valueint : least - 1;
    return cJSON_IsNumber(item) && item->valuedouble == item->valueint && *value >= least && *value <= most;
}

static bool read_capability(const cJSON *entry, int *capability)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(entry, "compute_capability");
    const char *text = is_text(item) ? item->valuestring : "";
    size_t digits = strspn(text, "0123456789");
    struct occupancy_sm sm;
    if (digits < 1 || digits > 2 || text[digits] != '.' || !isdigit((unsigned char)text[digits + 1]) ||
        text[digits + 2]) {
        return false;
    }
    *capability = (int)strtol(text, NULL, 10) * 10 + (text[digits + 1] - '0');
    return occupancy_sm_of_capability(*capability, &sm);
}

/* What is wrong with the entry, or NULL. */
static const char *read_entry(const cJSON *entry, struct device *device)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(entry, "name");
    const cJSON *product = cJSON_GetObjectItemCaseSensitive(entry, "product");
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(entry, "source");
    if (!is_name(name)) {
        return "give \"name\" as text with letters or digits";
    }
    if ((product && !is_text(product)) || (source && !is_text(source))) {
        return "give \"product\" and \"source\" as text that can be shown";
    }
    device->name = name->valuestring;
    device->product = product ? product->valuestring : name->valuestring;
    device->source = source ? source->valuestring : "the file that names it";
    if (!read_capability(entry, &device->compute_capability)) {
        return "give \"compute_capability\" as text from \"5.0\" on, such as \"9.0\"";
    }
    if (!read_count(entry, "sms", 1, SMS_MAX, -1, &device->sms)) {
        return "give \"sms\" as a whole number from 1 to 4096";
    }
    if (!read_count(entry, "memory_gb", 0, MEMORY_GB_MAX, 0, &device->memory_gb)) {
        return "give \"memory_gb\" as a whole number from 0 to 1048576";
    }
    if (!read_count(entry, "gpcs", 0, SMS_MAX, 0, &device->gpcs) ||
        !read_count(entry, "sms_per_gpc", 0, SMS_MAX, 0, &device->sms_per_gpc)) {
        return "give \"gpcs\" and \"sms_per_gpc\" as whole numbers from 0 to 4096";
    }
    return NULL;
}

static bool read_entries(const char *path, const cJSON *list)
{
    added.devices = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *added.devices);
    if (!added.devices) {
        cli_complain("devices '%s': out of memory", path);
        return false;
    }
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list)
    {
        const char *fault = read_entry(entry, &added.devices[added.count]);
        if (fault) {
            cli_complain("devices '%s': entry %zu: %s", path, added.count + 1, fault);
            added.count = 0;
            return false;
        }
        added.count++;
    }
    return true;
}

bool catalog_load(const char *path)
{
    path = path ? path : getenv("WARPWATCH_DEVICES");
    if (!path || !*path || added.root) {
        return true;
    }
    size_t bytes = 0;
    char *text = read_file(path, &bytes);
    if (!text) {
        return false;
    }
    added.root = cJSON_ParseWithLength(text, bytes);
    free(text);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(added.root, "devices");
    if (!cJSON_IsArray(list)) {
        cli_complain("devices '%s': give {\"devices\": [{\"name\": …, \"compute_capability\": \"9.0\", "
                     "\"sms\": 132}]}",
                     path);
        return false;
    }
    return read_entries(path, list);
}

size_t catalog_count(void)
{
    return devices_count + added.count;
}

const struct device *catalog_at(size_t index)
{
    return index < devices_count ? &devices[index] : &added.devices[index - devices_count];
}

static const struct device *look_up(const char *name)
{
    for (size_t i = 0; i < added.count; i++) {
        if (device_name_matches(name, added.devices[i].name) ||
            device_name_matches(name, added.devices[i].product)) {
            return &added.devices[i];
        }
    }
    return device_find(name);
}

/* A table names few devices many times. */
const struct device *catalog_find(const char *name)
{
    static struct {
        char name[48];
        const struct device *device;
    } recent[512];
    size_t length = strlen(name), slot = 0;
    if (length >= sizeof recent[0].name) {
        return look_up(name);
    }
    for (size_t i = 0; i < length; i++) {
        slot = slot * 31 + (unsigned char)name[i];
    }
    slot %= sizeof recent / sizeof recent[0];
    if (!recent[slot].device || strcmp(recent[slot].name, name) != 0) {
        recent[slot].device = look_up(name);
        memcpy(recent[slot].name, name, length + 1);
    }
    return recent[slot].device;
}

static void complain(const char *option, const char *name)
{
    char names[1024];
    size_t used = 0;
    for (size_t i = 0; i < catalog_count() && used < sizeof names; i++) {
        int length = snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", catalog_at(i)->name);
        used += length > 0 ? (size_t)length : 0;
    }
    cli_complain("%s '%s': no such device; there are %s", option, name, names);
}

const struct device *catalog_take(const char *option, const char *name)
{
    if (!catalog_load(NULL)) {
        return NULL;
    }
    const struct device *device = catalog_find(name);
    if (!device) {
        complain(option, name);
    }
    return device;
}
