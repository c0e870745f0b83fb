/* Names for people: demangled, safe to print, and the short ones unique within the report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "names.h"
#include "names/demangle.h"
#include "names/visible.h"

/* Keeps a malloc'd text in the data's memory, made visible if asked, and frees it. NULL in, NULL out. */
static const char *keep(struct merged *merged, char *text, bool show)
{
    char *shown = text && show && !is_visible(text) ? visible(text) : NULL;
    const char *source = shown ? shown : text;
    const char *kept = source ? arena_copy(&merged->merge->arena, source, strlen(source)) : NULL;
    free(shown);
    free(text);
    return kept;
}

static bool kernel_name(struct merged *merged, struct merged_kernel *kernel)
{
    kernel->name = keep(merged, demangle_full(kernel->mangled), false);
    kernel->short_name = keep(merged, demangle_short(kernel->mangled), true);
    if (kernel->short_name && kernel->short_name[0] == '\0') {
        kernel->short_name = merged_print(merged, "(no name)");
    }
    return kernel->name && kernel->short_name;
}

/* --- unique ------------------------------------------------------------------------------------------- */

struct named {
    const char *short_name;
    uint32_t kernel;
};

static int by_short_name(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->short_name, b->short_name);
    return order ? order : (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static bool all_differ_in_registers(const struct merged *merged, const struct named *group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct merged_kernel *kernel = &merged->kernels[group[i].kernel];
        if (!(kernel->valid & STORE_KERNEL_ATTRIBUTES)) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (merged->kernels[group[j].kernel].registers_per_thread == kernel->registers_per_thread) {
                return false;
            }
        }
    }
    return true;
}

/* One source of two builds is told apart by its registers; anything else gets a number. */
static bool group_number(struct merged *merged, const struct named *group, size_t count)
{
    bool by_registers = count <= 8 && all_differ_in_registers(merged, group, count);
    for (size_t i = 0; i < count; i++) {
        struct merged_kernel *kernel = &merged->kernels[group[i].kernel];
        kernel->short_name = by_registers ? merged_print(merged, "%s [%u registers]", kernel->short_name,
                                                         kernel->registers_per_thread)
                                          : merged_print(merged, "%s #%zu", kernel->short_name, i + 1);
        if (!kernel->short_name) {
            return false;
        }
    }
    return true;
}

static bool short_names_unique(struct merged *merged)
{
    size_t count = merged->kernels_count, first = 0;
    struct named *names = malloc((count + 1) * sizeof *names);
    bool held = names != NULL;
    for (uint32_t i = 0; held && i < count; i++) {
        names[i] = (struct named){merged->kernels[i].short_name, i};
    }
    if (held) {
        qsort(names, count, sizeof *names, by_short_name);
    }
    for (size_t i = 1; held && i <= count; i++) {
        if (i < count && strcmp(names[i].short_name, names[first].short_name) == 0) {
            continue;
        }
        held = i - first == 1 || group_number(merged, names + first, i - first);
        first = i;
    }
    free(names);
    return held;
}

bool names_assign(struct merged *merged)
{
    for (uint32_t i = 0; i < merged->kernels_count; i++) {
        if (!kernel_name(merged, &merged->kernels[i])) {
            return false;
        }
    }
    return short_names_unique(merged);
}
