/* Filters and sorts. A key is worked out once for each record; then indices are sorted and records moved. */
#include "select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

/* Where less is worse, so that the worst comes first. */
static const char *const ascending[] = {"theoretical_occupancy",
                                        "achieved_occupancy",
                                        "branch_efficiency",
                                        "lane_utilization",
                                        "blocks_per_sm",
                                        "slots",
                                        "waves",
                                        "full_waves",
                                        "tail_fullness"};

struct order {
    const struct field *kernel, *configuration; /* NULL: not a field of it */
    double sign;
};

struct sorted {
    double key, second; /* larger first */
    const char *name;
    uint32_t index;
};

/* --- which fields --------------------------------------------------------------------------------------- */

static bool is_sortable(const struct field *field)
{
    static const char *const not_numbers[] = {"name",      "short_name", "mangled", "image",    "further",
                                              "grid",      "block",      "cluster", "limiters", "limits",
                                              "elsewhere", "sources",    "labels"};
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++) {
        if (strcmp(field->name, not_numbers[i]) == 0) {
            return false;
        }
    }
    return true;
}

bool select_sortable(const char *name)
{
    const struct field *kernel = field_named(RECORD_kernel, name);
    const struct field *configuration = field_named(RECORD_configuration, name);
    return strcmp(name, "name") == 0 || (kernel && is_sortable(kernel)) ||
           (configuration && is_sortable(configuration));
}

char *select_sortable_list(void)
{
    char *list = NULL;
    size_t bytes;
    FILE *out = open_memstream(&list, &bytes);
    if (!out) {
        return NULL;
    }
    fputs("name", out);
    for (const struct field *field = fields_of(RECORD_kernel); field->name; field++) {
        if (is_sortable(field)) {
            fprintf(out, ", %s", field->name);
        }
    }
    for (const struct field *field = fields_of(RECORD_configuration); field->name; field++) {
        if (is_sortable(field) && !field_named(RECORD_kernel, field->name)) {
            fprintf(out, ", %s", field->name);
        }
    }
    return fclose(out) == 0 ? list : NULL;
}

static struct order order_by(const char *name)
{
    struct order order = {.sign = 1};
    if (name) {
        order.kernel = field_named(RECORD_kernel, name);
        order.configuration = field_named(RECORD_configuration, name);
        for (size_t i = 0; i < sizeof ascending / sizeof *ascending; i++) {
            order.sign = strcmp(name, ascending[i]) == 0 ? -1 : order.sign;
        }
    }
    return order;
}

/* --- keys ------------------------------------------------------------------------------------------------
 */

/* What is unknown comes last. */
static double key_of(const struct merged *merged, const struct field *field, const void *record, double sign)
{
    char text[FIELD_TEXT_BYTES];
    struct value value = field->get(merged, record, text);
    switch (value.kind) {
    case VALUE_UNSIGNED:
        return sign * (double)value.unsigned_number;
    case VALUE_SIGNED:
        return sign * (double)value.signed_number;
    case VALUE_NUMBER:
    case VALUE_FRACTION:
        return sign * value.number;
    case VALUE_OBJECT: /* gpu_ns */
        return sign * (double)((const struct merged_configuration *)record)->measured.gpu_ns_total;
    default:
        return -INFINITY;
    }
}

static struct sorted configuration_key(const struct merged *merged, const struct order *order, uint32_t index)
{
    const struct merged_configuration *configuration = &merged->configurations[index];
    struct sorted sorted = {.second = (double)configuration->launches, .name = "", .index = index};
    if (order->configuration) {
        sorted.key = key_of(merged, order->configuration, configuration, order->sign);
    } else {
        sorted.key =
            configuration->judged.waste_ns > 0 ? configuration->judged.waste_ns : configuration->judged.waste;
    }
    return sorted;
}

/* A kernel is as bad as its worst configuration where the field is a configuration's. */
static struct sorted kernel_key(const struct merged *merged, const struct order *order, uint32_t index)
{
    const struct merged_kernel *kernel = &merged->kernels[index];
    struct sorted sorted = {.second = (double)kernel->launches, .name = kernel->name, .index = index};
    if (order->kernel) {
        sorted.key = key_of(merged, order->kernel, kernel, order->sign);
    } else if (order->configuration) {
        sorted.key = -INFINITY;
        for (uint32_t i = 0; i < kernel->configurations; i++) {
            sorted.key =
                fmax(sorted.key, configuration_key(merged, order, kernel->first_configuration + i).key);
        }
    } else {
        sorted.key = merged->gpu_times_known ? kernel->waste_ns : kernel->waste;
    }
    return sorted;
}

static int worse_first(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    if (a->key != b->key) {
        return a->key > b->key ? -1 : 1;
    }
    if (a->second != b->second) {
        return a->second > b->second ? -1 : 1;
    }
    int names = strcmp(a->name, b->name);
    return names ? names : (a->index > b->index) - (a->index < b->index);
}

/* Shapes last: the order in which threads of the program met them says nothing. */
static int worse_configuration_first(const void *left, const void *right, void *context)
{
    const struct merged_configuration *configurations = context;
    const struct sorted *a = left, *b = right;
    if (a->key != b->key || a->second != b->second) {
        return worse_first(left, right);
    }
    const struct merged_configuration *x = &configurations[a->index], *y = &configurations[b->index];
    const uint32_t shapes[][2] = {{x->grid[0], y->grid[0]},   {x->grid[1], y->grid[1]},
                                  {x->grid[2], y->grid[2]},   {x->block[0], y->block[0]},
                                  {x->block[1], y->block[1]}, {x->block[2], y->block[2]},
                                  {x->device, y->device}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (shapes[i][0] != shapes[i][1]) {
            return shapes[i][0] < shapes[i][1] ? -1 : 1;
        }
    }
    return worse_first(left, right);
}

static int by_name(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    int names = strcmp(a->name, b->name);
    return names ? names : (a->index > b->index) - (a->index < b->index);
}

/* --- moving ----------------------------------------------------------------------------------------------
 */

static bool matches(const struct merged_kernel *kernel, const regex_t *regex)
{
    return !regex || regexec(regex, kernel->name, 0, NULL, 0) == 0 ||
           regexec(regex, kernel->mangled, 0, NULL, 0) == 0 ||
           regexec(regex, kernel->short_name, 0, NULL, 0) == 0;
}

struct moved {
    struct sorted *kernels, *configurations;
    struct merged_kernel *new_kernels;
    struct merged_configuration *new_configurations;
    uint32_t *position; /* of each old configuration, MERGED_NONE: left out */
    uint32_t kernels_count, configurations_count;
};

static void move_kernel(struct merged *merged, struct moved *moved, const struct order *order, uint32_t old)
{
    struct merged_kernel *kernel = &moved->new_kernels[moved->kernels_count];
    *kernel = merged->kernels[old];
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        moved->configurations[i] = configuration_key(merged, order, kernel->first_configuration + i);
    }
    qsort_r(moved->configurations, kernel->configurations, sizeof *moved->configurations,
            worse_configuration_first, merged->configurations);
    kernel->first_configuration = moved->configurations_count;
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        uint32_t from = moved->configurations[i].index, to = moved->configurations_count++;
        moved->new_configurations[to] = merged->configurations[from];
        moved->new_configurations[to].kernel = moved->kernels_count;
        moved->position[from] = to;
    }
    moved->kernels_count++;
}

static void move_all(struct merged *merged, struct moved *moved, const regex_t *kernel, const char *sort)
{
    struct order order = order_by(sort);
    uint32_t count = 0;
    for (uint32_t i = 0; i < merged->kernels_count; i++) {
        if (matches(&merged->kernels[i], kernel)) {
            moved->kernels[count++] = kernel_key(merged, &order, i);
        }
    }
    qsort(moved->kernels, count, sizeof *moved->kernels,
          sort && strcmp(sort, "name") == 0 ? by_name : worse_first);
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        moved->position[i] = MERGED_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        move_kernel(merged, moved, &order, moved->kernels[i].index);
    }
}

static void adopt(struct merged *merged, struct moved *moved)
{
    for (uint32_t i = 0; i < moved->configurations_count; i++) {
        uint32_t *successor = &moved->new_configurations[i].successor;
        *successor = *successor == MERGED_NONE ? MERGED_NONE : moved->position[*successor];
    }
    for (uint32_t i = 0; i < merged->shares_count; i++) {
        merged->shares[i].configuration = moved->position[merged->shares[i].configuration];
    }
    free(merged->kernels);
    free(merged->configurations);
    merged->kernels = moved->new_kernels;
    merged->kernels_count = moved->kernels_count;
    merged->configurations = moved->new_configurations;
    merged->configurations_count = moved->configurations_count;
    moved->new_kernels = NULL;
    moved->new_configurations = NULL;
}

bool merged_select(struct merged *merged, const regex_t *kernel, const char *sort)
{
    size_t kernels = (size_t)merged->kernels_count + 1,
           configurations = (size_t)merged->configurations_count + 1;
    struct moved moved = {
        .kernels = calloc(kernels, sizeof *moved.kernels),
        .configurations = calloc(configurations, sizeof *moved.configurations),
        .new_kernels = calloc(kernels, sizeof *moved.new_kernels),
        .new_configurations = calloc(configurations, sizeof *moved.new_configurations),
        .position = calloc(configurations, sizeof *moved.position),
    };
    bool held = moved.kernels && moved.configurations && moved.new_kernels && moved.new_configurations &&
                moved.position;
    if (held) {
        move_all(merged, &moved, kernel, sort);
        adopt(merged, &moved);
    }
    free(moved.kernels);
    free(moved.configurations);
    free(moved.new_kernels);
    free(moved.new_configurations);
    free(moved.position);
    return held;
}
