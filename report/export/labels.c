/* What launches are called: the kernel's short name; for replays of a graph, how many kernels that is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/demangle.h"
#include "names/visible.h"
#include "trace.h"

enum { NODES_NAMED = 12, OTHERS = 2 /* labels behind the kernels' */ };

const char *const trace_fact_names[TRACE_FACTS] = {
    [FACT_KERNEL] = "kernel",
    [FACT_GRID] = "grid",
    [FACT_BLOCK] = "block",
    [FACT_CLUSTER] = "cluster",
    [FACT_SHARED] = "dynamic_shared_bytes",
    [FACT_DEVICE] = "device",
    [FACT_KERNELS] = "kernels",
    [FACT_RUNS] = "runs",
    [FACT_STREAM] = "stream",
    [FACT_LAUNCHES] = "launches",
};

struct described {
    struct store_file *file;
    struct store_records kernels, configurations, bodies, nodes, devices;
    struct trace_labels *labels;
};

/* --- parts --------------------------------------------------------------------------------------------- */

/* Takes over the text. */
static bool add_text(struct trace_label *label, enum trace_fact fact, char *text)
{
    label->arguments[label->arguments_count++] = (struct trace_argument){.fact = fact, .text = text};
    return text != NULL;
}

static void add_number(struct trace_label *label, enum trace_fact fact, uint64_t number)
{
    label->arguments[label->arguments_count++] = (struct trace_argument){.fact = fact, .number = number};
}

static char *shape_text(const uint32_t shape[3])
{
    char *text = NULL;
    int length = asprintf(&text, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, shape[0], shape[1], shape[2]);
    return length < 0 ? NULL : text;
}

/* Takes over the text. */
static char *shown(char *text)
{
    char *safe = text ? visible(text) : NULL;
    free(text);
    return safe;
}

/* --- kernels ------------------------------------------------------------------------------------------- */

static const char *stand_in(const struct store_kernel *kernel)
{
    return kernel->valid & STORE_KERNEL_FILTERED ? "kernels left out by WARPWATCH_FILTER"
           : kernel->valid & STORE_KERNEL_REST   ? "kernels beyond the limit"
                                                 : NULL;
}

static bool kernel_label(struct described *in, uint32_t index, struct trace_label *label)
{
    const struct store_kernel *kernel = (const struct store_kernel *)in->kernels.records + index;
    bool intact = kernel->check == store_check(kernel, sizeof kernel->name + sizeof kernel->image);
    const char *other = intact ? stand_in(kernel) : "unreadable kernel";
    char *mangled = other ? strdup(other) : store_file_string(in->file, kernel->name);
    mangled = mangled ? mangled : strdup("unreadable kernel");
    label->name = mangled ? shown(other ? strdup(other) : demangle_short(mangled)) : NULL;
    bool held = label->name && add_text(label, FACT_KERNEL, shown(demangle_full(mangled)));
    free(mangled);
    return held;
}

static struct trace_label *kernel_label_of(const struct described *in, uint32_t kernel)
{
    const struct trace_labels *labels = in->labels;
    uint32_t first = labels->configurations + labels->bodies;
    return &labels->all[kernel < labels->kernels ? first + kernel : labels->count - 1];
}

/* --- configurations ------------------------------------------------------------------------------------ */

static bool configuration_label(struct described *in, uint32_t index, struct trace_label *label)
{
    const struct store_configuration *configuration =
        (const struct store_configuration *)in->configurations.records + index;
    const struct trace_label *kernel = kernel_label_of(in, configuration->kernel);
    const struct store_device *devices = in->devices.records;
    const uint32_t *cluster = configuration->cluster;
    label->name = strdup(kernel->name);
    bool held = label->name &&
                add_text(label, FACT_KERNEL,
                         strdup(kernel->arguments_count ? kernel->arguments[0].text : kernel->name)) &&
                add_text(label, FACT_GRID, shape_text(configuration->grid)) &&
                add_text(label, FACT_BLOCK, shape_text(configuration->block));
    if (held && (uint64_t)cluster[0] * cluster[1] * cluster[2] > 1) {
        held = add_text(label, FACT_CLUSTER, shape_text(cluster));
    }
    add_number(label, FACT_SHARED, configuration->dynamic_shared_bytes);
    if (configuration->device < in->devices.count) {
        add_number(label, FACT_DEVICE, devices[configuration->device].ordinal);
    }
    return held;
}

/* --- graphs -------------------------------------------------------------------------------------------- */

static void print_node(const struct described *in, const struct store_node *node, FILE *out)
{
    bool known = node->configuration < in->labels->configurations;
    fputs(known ? in->labels->all[node->configuration].name : "unreadable kernel", out);
    if (node->times > 1) {
        fprintf(out, " (%" PRIu32 " times)", node->times);
    }
}

/* The first kernels of a graph, in no order: a body only counts them. NULL: out of memory. */
static char *nodes_text(const struct described *in, const struct store_node *nodes, uint32_t count)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (uint32_t i = 0; out && i < count && i < NODES_NAMED; i++) {
        fputs(i ? ", " : "", out);
        print_node(in, &nodes[i], out);
    }
    if (out && count > NODES_NAMED) {
        fprintf(out, " and %" PRIu32 " others", count - NODES_NAMED);
    }
    return out && fclose(out) == 0 ? text : NULL;
}

static bool body_label(struct described *in, uint32_t index, struct trace_label *label)
{
    const struct store_body *body = (const struct store_body *)in->bodies.records + index;
    bool whole = body->first_node <= in->nodes.count && body->nodes <= in->nodes.count - body->first_node;
    const struct store_node *nodes =
        (const struct store_node *)in->nodes.records + (whole ? body->first_node : 0);
    uint32_t count = whole ? body->nodes : 0;
    uint64_t kernels = 0;
    for (uint32_t i = 0; i < count; i++) {
        kernels += nodes[i].times;
    }
    int length =
        whole ? asprintf(&label->name, "graph of %" PRIu64 " kernel%s", kernels, kernels == 1 ? "" : "s")
              : asprintf(&label->name, "unreadable graph");
    label->name = length < 0 ? NULL : label->name;
    add_number(label, FACT_KERNELS, kernels);
    return label->name && add_text(label, FACT_RUNS, nodes_text(in, nodes, count));
}

/* --- all of it ----------------------------------------------------------------------------------------- */

static bool fill(struct described *in)
{
    struct trace_labels *labels = in->labels;
    uint32_t kernels_first = labels->configurations + labels->bodies;
    labels->all[labels->count - 1].name = strdup("unreadable");
    labels->all[labels->count - 2].name = strdup("graph");
    bool held = labels->all[labels->count - 1].name && labels->all[labels->count - 2].name;
    for (uint32_t i = 0; held && i < labels->kernels; i++) {
        held = kernel_label(in, i, &labels->all[kernels_first + i]);
    }
    for (uint32_t i = 0; held && i < labels->configurations; i++) {
        held = configuration_label(in, i, &labels->all[i]);
    }
    for (uint32_t i = 0; held && i < labels->bodies; i++) {
        held = body_label(in, i, &labels->all[labels->configurations + i]);
    }
    return held;
}

bool trace_labels_read(struct trace_labels *labels, struct store_file *file)
{
    struct described in = {.file = file, .labels = labels};
    bool held = store_file_records(file, STORE_BODIES, &in.bodies) &&
                store_file_records(file, STORE_NODES, &in.nodes) &&
                store_file_records(file, STORE_CONFIGURATIONS, &in.configurations) &&
                store_file_records(file, STORE_KERNELS, &in.kernels) &&
                store_file_records(file, STORE_DEVICES, &in.devices);
    *labels =
        (struct trace_labels){.configurations = in.configurations.count,
                              .bodies = in.bodies.count,
                              .kernels = in.kernels.count,
                              .count = in.configurations.count + in.bodies.count + in.kernels.count + OTHERS};
    labels->all = held ? calloc(labels->count, sizeof *labels->all) : NULL;
    held = labels->all && fill(&in);
    store_records_free(&in.bodies);
    store_records_free(&in.nodes);
    store_records_free(&in.configurations);
    store_records_free(&in.kernels);
    store_records_free(&in.devices);
    return held;
}

void trace_labels_free(struct trace_labels *labels)
{
    for (uint32_t i = 0; labels->all && i < labels->count; i++) {
        for (uint32_t j = 0; j < labels->all[i].arguments_count; j++) {
            free(labels->all[i].arguments[j].text);
        }
        free(labels->all[i].name);
    }
    free(labels->all);
    labels->all = NULL;
}

uint32_t trace_label_of(const struct trace_labels *labels, uint32_t target)
{
    uint32_t index = STORE_TARGET_INDEX(target), unreadable = labels->count - 1;
    switch (STORE_TARGET_KIND(target)) {
    case STORE_DIRECT:
    case STORE_RUNTIME:
    case STORE_GRAPH_DIRECT:
        return index < labels->configurations ? index : unreadable;
    case STORE_REPLAY:
        if (target == STORE_TRACE_GRAPH) {
            return labels->count - 2;
        }
        return index < labels->bodies ? labels->configurations + index : unreadable;
    case STORE_FURTHER_DIRECT:
    case STORE_FURTHER_RUNTIME:
    case STORE_FURTHER_GRAPH:
        return index < labels->kernels ? labels->configurations + labels->bodies + index : unreadable;
    default:
        return unreadable;
    }
}
