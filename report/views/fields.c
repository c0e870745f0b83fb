/* The field table and how values are made. */
#include "fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/occupancy.h"

static struct value of_nothing(void)
{
    return (struct value){.kind = VALUE_NONE};
}

static struct value of_text(const char *text)
{
    return (struct value){.kind = VALUE_TEXT, .text = text};
}

static struct value of_unsigned(uint64_t number)
{
    return (struct value){.kind = VALUE_UNSIGNED, .unsigned_number = number};
}

static struct value of_signed(int64_t number)
{
    return (struct value){.kind = VALUE_SIGNED, .signed_number = number};
}

static struct value of_number(double number)
{
    return isfinite(number) ? (struct value){.kind = VALUE_NUMBER, .number = number} : of_nothing();
}

static struct value of_fraction(double number)
{
    return isfinite(number) ? (struct value){.kind = VALUE_FRACTION, .number = number} : of_nothing();
}

static struct value of_ratio(uint64_t sum, uint64_t count)
{
    return count ? of_number((double)sum / (double)count) : of_nothing();
}

static struct value of_boolean(bool truth)
{
    return (struct value){.kind = VALUE_BOOLEAN, .truth = truth};
}

static struct value of_triple(const uint32_t triple[3])
{
    return (struct value){.kind = VALUE_TRIPLE, .triple = triple};
}

static struct value of_names(unsigned bits, unsigned count, const char *const *names)
{
    return (struct value){.kind = VALUE_NAMES, .set = {bits, count, names}};
}

static struct value of_object(enum record fields, const void *record)
{
    return (struct value){.kind = VALUE_OBJECT, .object = {fields, record}};
}

static struct value of_source(enum source source)
{
    return source == SOURCE_NONE ? of_nothing() : of_text(source_names[source]);
}

static struct value of_loss(enum store_loss reason)
{
    static const char *const names[] = {NULL, "no_space", "no_memory", "limit"};
    return reason > STORE_LOSS_NONE && reason <= STORE_LOSS_LIMIT ? of_text(names[reason]) : of_nothing();
}

/* "2026-01-31T12:00:00.123Z" */
static struct value of_time(uint64_t realtime_ns, char text[FIELD_TEXT_BYTES])
{
    time_t seconds = (time_t)(realtime_ns / 1000000000u);
    struct tm parts;
    if (realtime_ns == 0 || !gmtime_r(&seconds, &parts)) {
        return of_nothing();
    }
    size_t length = strftime(text, FIELD_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, FIELD_TEXT_BYTES - length, ".%03uZ", (unsigned)(realtime_ns / 1000000 % 1000));
    return of_text(text);
}

/* As nvidia-smi writes it. */
static struct value of_uuid(const struct store_device *limits, char text[FIELD_TEXT_BYTES])
{
    if (!(limits->valid & STORE_DEVICE_VALID_UUID)) {
        return of_nothing();
    }
    size_t length = (size_t)sprintf(text, "%s", limits->flags & STORE_DEVICE_MIG ? "MIG-" : "GPU-");
    for (int i = 0; i < 16; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        length += (size_t)sprintf(text + length, "%s%02x", dash, limits->uuid[i]);
    }
    return of_text(text);
}

static struct value of_capability(uint32_t capability, char text[FIELD_TEXT_BYTES])
{
    if (capability == 0) {
        return of_nothing();
    }
    snprintf(text, FIELD_TEXT_BYTES, "%u.%u", capability / 10, capability % 10);
    return of_text(text);
}

static struct value of_limit(const struct store_device *limits, unsigned bit, uint32_t value)
{
    return limits->valid >> bit & 1 ? of_unsigned(value) : of_nothing();
}

static struct value of_attribute(const struct merged_kernel *kernel, uint32_t value)
{
    return kernel->valid & STORE_KERNEL_ATTRIBUTES ? of_unsigned(value) : of_nothing();
}

/* Findings name a configuration by its place within its kernel. */
static struct value of_place(const struct merged *merged, const struct merged_finding *finding)
{
    if (finding->kernel == MERGED_NONE || finding->configuration == MERGED_NONE) {
        return of_nothing();
    }
    return of_unsigned(finding->configuration - merged->kernels[finding->kernel].first_configuration);
}

static bool is_measured(const struct store_measurement *measured)
{
    return measured->samples_timing || measured->samples_a || measured->samples_b;
}

#define of_judged(it, what, value)    ((it)->judged.valid & JUDGED_##what ? (value) : of_nothing())
#define of_elsewhere(it, what, value) ((it)->elsewhere.valid & JUDGED_##what ? (value) : of_nothing())
#define of_measured(it, what, value)  ((it)->measured.valid & STORE_MEASURED_##what ? (value) : of_nothing())

typedef struct merged_process process_record;
typedef struct merged_device device_record;
typedef struct merged_device elsewhere_device_record;
typedef struct merged_host host_record;
typedef struct merged_totals totals_record;
typedef struct merged_totals totals_measured_record;
typedef struct merged_totals graph_gpu_ns_record;
typedef struct merged_kernel kernel_record;
typedef struct merged_kernel further_record;
typedef struct merged_configuration configuration_record;
typedef struct merged_configuration limits_record;
typedef struct merged_configuration gpu_ns_record;
typedef struct merged_configuration measured_launches_record;
typedef struct merged_configuration sources_record;
typedef struct merged_configuration elsewhere_record;
typedef struct merged_share share_record;
typedef struct merged_finding finding_record;
typedef struct merged_odd_rank odd_rank_record;

#define RECORD(record)
#define FIELD(record, name, column, expression)                                                              \
    static struct value record##_##name(const struct merged *merged, const void *opaque,                     \
                                        char text[FIELD_TEXT_BYTES])                                         \
    {                                                                                                        \
        const record##_record *it = opaque;                                                                  \
        (void)it, (void)merged, (void)text;                                                                  \
        return expression;                                                                                   \
    }
#include "fields.def"
#undef RECORD
#undef FIELD

/* All records in one row, each behind an entry without a name. */
static const struct field all_fields[] = {
#define RECORD(record)                     {NULL, NULL, NULL},
#define FIELD(record, name, column, value) {#name, #column, record##_##name},
#include "fields.def"
#undef RECORD
#undef FIELD
    {NULL, NULL, NULL}};

enum place {
#define RECORD(record)                     PLACE_##record,
#define FIELD(record, name, column, value) PLACE_##record##_##name,
#include "fields.def"
#undef RECORD
#undef FIELD
};

static const enum place places[] = {
#define RECORD(record) [RECORD_##record] = PLACE_##record,
#define FIELD(record, name, column, value)
#include "fields.def"
#undef RECORD
#undef FIELD
};

const struct field *fields_of(enum record record)
{
    return &all_fields[places[record] + 1];
}

const struct field *field_named(enum record record, const char *name)
{
    for (const struct field *field = fields_of(record); field->name; field++) {
        if (strcmp(field->name, name) == 0) {
            return field;
        }
    }
    return NULL;
}
