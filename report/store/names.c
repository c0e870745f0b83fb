/* Names for people: demangled, safe to print, and the short ones unique within the report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "names.h"
#include "names/demangle.h"
#include "names/distinguish.h"
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

typedef bool group_visitor(struct merged *merged, const struct named *group, size_t count);

/* Calls `visit` for each group of kernels that share a short name. */
static bool each_group(struct merged *merged, group_visitor *visit)
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
        if (i == count || strcmp(names[i].short_name, names[first].short_name) != 0) {
            held = i - first == 1 || visit(merged, names + first, i - first);
            first = i;
        }
    }
    free(names);
    return held;
}

static bool group_append(struct merged *merged, const struct named *group, char *const *told, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct merged_kernel *kernel = &merged->kernels[group[i].kernel];
        char *shown = told[i] ? visible(told[i]) : NULL;
        kernel->short_name =
            shown ? merged_print(merged, "%s [%s]", kernel->short_name, shown) : kernel->short_name;
        if ((told[i] && !shown) || !kernel->short_name) {
            free(shown);
            return false;
        }
        free(shown);
    }
    return true;
}

/* By the words of their full names that differ: "flash_fwd_kernel<…> [128, bfloat16_t]". */
static bool group_distinguish(struct merged *merged, const struct named *group, size_t count)
{
    char **names = calloc(2 * count, sizeof *names), **told = names + count;
    bool held = names != NULL;
    for (size_t i = 0; held && i < count; i++) {
        names[i] = demangle_name(merged->kernels[group[i].kernel].mangled);
        held = names[i] != NULL;
    }
    held = held && names_distinguish((const char *const *)names, count, told) == 0 &&
           group_append(merged, group, told, count);
    for (size_t i = 0; names && i < 2 * count; i++) {
        free(names[i]);
    }
    free(names);
    return held;
}

static int by_registers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool all_differ_in_registers(const struct merged *merged, const struct named *group, size_t count)
{
    uint32_t registers[16];
    for (size_t i = 0; i < count && count <= 16; i++) {
        const struct merged_kernel *kernel = &merged->kernels[group[i].kernel];
        registers[i] = kernel->valid & STORE_KERNEL_ATTRIBUTES ? kernel->registers_per_thread : 0;
    }
    if (count > 16) {
        return false;
    }
    qsort(registers, count, sizeof *registers, by_registers);
    for (size_t i = 1; i < count; i++) {
        if (registers[i - 1] == registers[i]) {
            return false;
        }
    }
    return registers[0] > 0;
}

/* One source of two builds is told apart by its registers; anything else gets a number. */
static bool group_number(struct merged *merged, const struct named *group, size_t count)
{
    bool registers = all_differ_in_registers(merged, group, count);
    for (size_t i = 0; i < count; i++) {
        struct merged_kernel *kernel = &merged->kernels[group[i].kernel];
        kernel->short_name = registers ? merged_print(merged, "%s [%u registers]", kernel->short_name,
                                                      kernel->registers_per_thread)
                                       : merged_print(merged, "%s #%zu", kernel->short_name, i + 1);
        if (!kernel->short_name) {
            return false;
        }
    }
    return true;
}

bool names_assign(struct merged *merged)
{
    for (uint32_t i = 0; i < merged->kernels_count; i++) {
        if (!kernel_name(merged, &merged->kernels[i])) {
            return false;
        }
    }
    /* again, for the kernel that is called "scale #1" to begin with */
    return each_group(merged, group_distinguish) && each_group(merged, group_number) &&
           each_group(merged, group_number);
}
