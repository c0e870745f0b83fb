/* Selection by architecture or by what a device would load. */
#include "select.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool scan_runs_on(int capability, uint32_t sm, char variant, bool ptx)
{
    uint32_t device = (uint32_t)capability;
    if (variant == 'a') {
        return sm == device;
    }
    if (variant == 0 && ptx) {
        return sm <= device;
    }
    return sm / 10 == device / 10 && sm <= device;
}

bool scan_wants(const struct scan_options *options, uint32_t sm, char variant, bool ptx)
{
    if (options->device_capability && !scan_runs_on(options->device_capability, sm, variant, ptx)) {
        return false;
    }
    return options->sm == 0 || (options->sm == sm && (options->variant == 0 || options->variant == variant));
}

/* Newer first; among equals the one that may use more of the device. */
static unsigned preference(const struct fatbin_entry *entry)
{
    return 4 * entry->sm + (entry->variant == 'a' ? 2 : entry->variant == 'f' ? 1 : 0);
}

static unsigned best_preference(const struct scan_options *options, const struct fatbin_entry *entries,
                                size_t count, uint16_t kind)
{
    unsigned best = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fatbin_entry *entry = &entries[i];
        if (entry->kind == kind && scan_wants(options, entry->sm, entry->variant, kind == FATBIN_PTX) &&
            preference(entry) > best) {
            best = preference(entry);
        }
    }
    return best;
}

static void select_for_device(const struct scan_options *options, const struct fatbin_entry *entries,
                              size_t count, bool *chosen)
{
    uint16_t kind = FATBIN_ELF;
    unsigned best = best_preference(options, entries, count, kind);
    if (best == 0) {
        kind = FATBIN_PTX;
        best = best_preference(options, entries, count, kind);
    }
    for (size_t i = 0; i < count; i++) {
        chosen[i] = best != 0 && entries[i].kind == kind && preference(&entries[i]) == best;
    }
}

void scan_select(const struct scan_options *options, const struct fatbin_entry *entries, size_t count,
                 bool *chosen)
{
    if (options->device_capability) {
        select_for_device(options, entries, count, chosen);
        return;
    }
    bool has_cubin = false;
    for (size_t i = 0; i < count; i++) {
        has_cubin = has_cubin || entries[i].kind == FATBIN_ELF;
    }
    for (size_t i = 0; i < count; i++) {
        bool ptx = entries[i].kind == FATBIN_PTX;
        chosen[i] = (ptx ? !has_cubin : entries[i].kind == FATBIN_ELF) &&
                    scan_wants(options, entries[i].sm, entries[i].variant, ptx);
    }
}

bool scan_parse_arch(const char *text, uint32_t *sm, char *variant)
{
    char *end;
    text += strncmp(text, "sm_", 3) == 0 ? 3 : 0;
    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    unsigned long number = strtoul(text, &end, 10);
    if (*end == '.' && isdigit((unsigned char)end[1])) {
        number = number * 10 + (unsigned long)(end[1] - '0');
        end += 2;
    }
    *variant = *end == 'a' || *end == 'f' ? *end++ : 0;
    *sm = (uint32_t)number;
    return *end == 0 && number >= 10 && number < 1000;
}

void scan_format_arch(const struct scan_kernel *kernel, char text[SCAN_ARCH_BYTES])
{
    snprintf(text, SCAN_ARCH_BYTES, "sm_%u%.1s", kernel->sm, kernel->variant ? &kernel->variant : "");
}
