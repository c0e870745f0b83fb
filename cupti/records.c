/* Pairs activity records and adds them up. Of kernel records only the prefix is read that has the same layout
 * in CUPTI 12 and 13, and CUPTI finds the next record, so their size is nowhere assumed. */
#include "cupti/records.h"

#include <stdlib.h>
#include <string.h>

#include <cupti_activity.h>

#include "cupti/plugin_state.h"

#define WAITING 65536u /* a power of two */
#define FIRSTS  4096u  /* a power of two */
#define NODES   4096u  /* a power of two */
#define STALE   256u

/* Ids: a configuration, or BODY_ID + a body, or FIRST_ID + a place in `firsts`; BODY_ID is added to that,
 * too, if it is a graph. */
#define BODY_ID  (1ull << 32)
#define FIRST_ID (1ull << 33)
#define NO_ID    UINT64_MAX

struct kernel_prefix { /* CUpti_ActivityKernel9 … 13: what did not change */
    uint32_t kind;
    uint32_t other[3];
    uint64_t start_ns, end_ns; /* at 16 and 24 */
    uint64_t completed_ns;
    uint32_t device, context, stream;
    uint32_t grid[3], block[3]; /* at 52 and 64 */
    uint32_t static_shared_bytes, dynamic_shared_bytes;
    uint32_t local[2];
    uint32_t correlation; /* at 92 */
    uint64_t grid_id;
    const char *name; /* at 104 */
};
_Static_assert(offsetof(struct kernel_prefix, end_ns) == offsetof(CUpti_ActivityKernel10, end), "end");
_Static_assert(offsetof(struct kernel_prefix, grid) == offsetof(CUpti_ActivityKernel10, gridX), "grid");
_Static_assert(offsetof(struct kernel_prefix, dynamic_shared_bytes) ==
                   offsetof(CUpti_ActivityKernel10, dynamicSharedMemory),
               "shared memory");
_Static_assert(offsetof(struct kernel_prefix, correlation) == offsetof(CUpti_ActivityKernel10, correlationId),
               "correlation");
_Static_assert(offsetof(struct kernel_prefix, name) == offsetof(CUpti_ActivityKernel10, name), "name");

struct graph_prefix { /* CUpti_ActivityGraphTrace, …2 */
    uint32_t kind;
    uint32_t correlation;
    uint64_t start_ns, end_ns;
};
_Static_assert(offsetof(struct graph_prefix, end_ns) == offsetof(CUpti_ActivityGraphTrace2, end), "end");

struct waiting { /* half of a pair */
    uint32_t correlation;
    bool time_known, id_known;
    bool of_graph; /* `ns` */
    uint64_t ns, id;
};

/* A first launch: what it was is known only after it. Whichever comes first waits for the other. */
struct first {
    uint64_t id; /* NO_ID: not yet */
    uint64_t ns; /* 0: not yet */
};

/* A kernel of a graph, and which of the body's configurations it is. */
struct node {
    const char *name; /* CUPTI's, the same for all records of a kernel; NULL: free */
    uint32_t shape[7];
    uint32_t body;
    uint32_t configuration;
};

struct timed {
    struct durations durations;
    bool stale; /* in `records.stale` */
};

static struct {
    pthread_mutex_t lock;
    struct waiting *waiting;
    struct first firsts[FIRSTS];
    atomic_uint next_first;
    struct node nodes[NODES];
    struct by_configuration configurations, bodies;
    uint64_t stale[STALE]; /* ids whose store records are behind */
    size_t stale_count;
    bool dropped_said;
} records = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct timed *timed_of(uint64_t id)
{
    return by_configuration(id >= BODY_ID ? &records.bodies : &records.configurations, (uint32_t)id);
}

static void publish(uint64_t id)
{
    struct timed *timed = timed_of(id);
    struct store_measurement *record =
        id >= BODY_ID ? plugin.body_measurement((uint32_t)id) : plugin.measurement((uint32_t)id);
    if (record) {
        durations_publish(&timed->durations, record, 0);
        record->samples_timing = timed->durations.count;
    }
    timed->stale = false;
}

static void publish_stale(void)
{
    for (size_t i = 0; i < records.stale_count; i++) {
        publish(records.stale[i]);
    }
    records.stale_count = 0;
}

static void credit_known(uint64_t id, uint64_t ns)
{
    struct timed *timed = timed_of(id);
    if (!timed) {
        return;
    }
    durations_add(&timed->durations, ns);
    if (!timed->stale) {
        if (records.stale_count == STALE) {
            publish_stale();
        }
        timed->stale = true;
        records.stale[records.stale_count++] = id;
    }
}

static void credit_first(struct first *first)
{
    if (first->id != NO_ID && first->ns) {
        credit_known(first->id, first->ns);
        first->ns = 0;
    }
}

static void credit(uint64_t id, uint64_t ns)
{
    if (id >= FIRST_ID) {
        struct first *first = &records.firsts[id % FIRSTS];
        first->ns = ns;
        credit_first(first);
    } else {
        credit_known(id, ns);
    }
}

static struct waiting *waiting_for(uint32_t correlation)
{
    struct waiting *entry = &records.waiting[correlation % WAITING];
    if (entry->correlation != correlation) {
        *entry = (struct waiting){.correlation = correlation}; /* an older half is given up */
    }
    return entry;
}

static bool is_graph_id(uint64_t id)
{
    return id & BODY_ID;
}

/* A kernel whose id turns out to be a graph's was one of many. */
static void pair_up(struct waiting *entry)
{
    if (entry->time_known && entry->id_known) {
        if (entry->of_graph == is_graph_id(entry->id)) {
            credit(entry->id, entry->ns);
        }
        entry->time_known = false;
    }
}

/* --- kernels of graphs --------------------------------------------------------------------------------- */

static bool is_node(const struct kernel_prefix *kernel, uint32_t configuration)
{
    const struct store_configuration *record = plugin.configuration(configuration);
    const char *name = plugin.kernel_name(configuration);
    return record && name && kernel->name && memcmp(record->grid, kernel->grid, sizeof record->grid) == 0 &&
           memcmp(record->block, kernel->block, sizeof record->block) == 0 &&
           record->dynamic_shared_bytes == kernel->dynamic_shared_bytes && strcmp(name, kernel->name) == 0;
}

/* The body's configuration that looks like it; STORE_NO_TARGET if none does, or two (they differ in what a
 * record does not tell, such as the cluster). */
static uint32_t find_in_body(const struct kernel_prefix *kernel, uint32_t body)
{
    uint32_t found = STORE_NO_TARGET, configuration;
    for (uint32_t i = 0; (configuration = plugin.body_configuration(body, i)) != STORE_NO_TARGET; i++) {
        if (is_node(kernel, configuration)) {
            if (found != STORE_NO_TARGET && found != configuration) {
                return STORE_NO_TARGET;
            }
            found = configuration;
        }
    }
    return found;
}

static uint32_t configuration_of_node(const struct kernel_prefix *kernel, uint32_t body)
{
    struct node node = {.name = kernel->name, .body = body};
    memcpy(node.shape, kernel->grid, 6 * sizeof *node.shape);
    node.shape[6] = kernel->dynamic_shared_bytes;
    uint64_t hash = (uint64_t)(uintptr_t)node.name + body;
    for (size_t i = 0; i < 7; i++) {
        hash = (hash ^ node.shape[i]) * 0x9e3779b97f4a7c15u;
    }
    struct node *known = &records.nodes[hash >> 52];
    if (known->name != node.name || known->body != body ||
        memcmp(known->shape, node.shape, sizeof node.shape) != 0) {
        node.configuration = find_in_body(kernel, body);
        *known = node;
    }
    return known->configuration;
}

/* Of a graph's first replay the body is not known yet: its kernels are left out. */
static void credit_node(const struct kernel_prefix *kernel, uint64_t id, uint64_t ns)
{
    uint32_t configuration =
        id < FIRST_ID ? configuration_of_node(kernel, (uint32_t)id) : (uint32_t)STORE_NO_TARGET;
    if (configuration != STORE_NO_TARGET) {
        credit_known(configuration, ns);
    }
}

/* --- records ------------------------------------------------------------------------------------------- */

/* Both times 0: CUPTI could not take them. */
static void read_time(uint32_t correlation, bool of_graph, uint64_t start_ns, uint64_t end_ns)
{
    struct waiting *entry = waiting_for(correlation);
    if (start_ns && end_ns >= start_ns) {
        entry->ns = end_ns - start_ns;
        entry->of_graph = of_graph;
        entry->time_known = true;
        pair_up(entry);
    }
}

static void read_kernel(const struct kernel_prefix *kernel)
{
    const struct waiting *entry = waiting_for(kernel->correlation);
    if (entry->id_known && is_graph_id(entry->id)) {
        if (plugin.settings.graph_nodes && kernel->start_ns && kernel->end_ns >= kernel->start_ns) {
            credit_node(kernel, entry->id, kernel->end_ns - kernel->start_ns);
        }
        return;
    }
    read_time(kernel->correlation, false, kernel->start_ns, kernel->end_ns);
}

static void read_external(const CUpti_ActivityExternalCorrelation *external)
{
    if (external->externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2) {
        struct waiting *entry = waiting_for(external->correlationId);
        entry->id = external->externalId;
        entry->id_known = true;
        pair_up(entry);
    }
}

static void read_record(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
        read_kernel((const struct kernel_prefix *)record);
        break;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
        const struct graph_prefix *graph = (const struct graph_prefix *)record;
        read_time(graph->correlation, true, graph->start_ns, graph->end_ns);
        break;
    }
    default:
        break;
    }
}

/* Ids first: the kernels of one replay all wait for the same id. */
void records_read(uint8_t *buffer, size_t bytes, size_t dropped)
{
    pthread_mutex_lock(&records.lock);
    for (int times = 0; times < 2; times++) {
        CUpti_Activity *record = NULL;
        while (bytes && cupti.cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) {
            if (times) {
                read_record(record);
            } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
                read_external((const CUpti_ActivityExternalCorrelation *)record);
            }
        }
    }
    publish_stale();
    bool say = dropped && !records.dropped_said;
    records.dropped_said |= say;
    pthread_mutex_unlock(&records.lock);
    if (say) {
        plugin.complain(
            "timing: CUPTI dropped records: GPU times cover a part of the launches (see the counts)");
    }
}

/* --- launches ------------------------------------------------------------------------------------------ */

static uint64_t known_id(const struct plugin_launch *launch)
{
    return launch->body != STORE_NO_TARGET            ? BODY_ID + launch->body
           : launch->configuration != STORE_NO_TARGET ? launch->configuration
                                                      : NO_ID;
}

uint64_t records_id(const struct plugin_launch *launch)
{
    uint64_t id = known_id(launch);
    if (id != NO_ID) {
        return id;
    }
    uint32_t place = atomic_fetch_add_explicit(&records.next_first, 1, memory_order_relaxed) % FIRSTS;
    pthread_mutex_lock(&records.lock);
    records.firsts[place] = (struct first){.id = NO_ID};
    pthread_mutex_unlock(&records.lock);
    return FIRST_ID + (launch->is_graph ? BODY_ID : 0) + place;
}

void records_launched(uint64_t id, const struct plugin_launch *launch)
{
    if (id < FIRST_ID) {
        return;
    }
    struct first *first = &records.firsts[id % FIRSTS];
    pthread_mutex_lock(&records.lock);
    first->id = known_id(launch);
    credit_first(first);
    pthread_mutex_unlock(&records.lock);
}

bool records_open(void)
{
    records.configurations.entry_bytes = records.bodies.entry_bytes = sizeof(struct timed);
    records.waiting = calloc(WAITING, sizeof *records.waiting);
    return records.waiting != NULL;
}
