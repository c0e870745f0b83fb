/* Finds kernels and configurations by content, or writes them. */
#include "records.h"

#include <string.h>

#include "clock.h"
#include "index.h"
#include "memory.h"

struct wanted_kernel {
    const char *name, *image;
    size_t name_bytes, image_bytes;
    const struct store_kernel *kernel;
};

/* Identity of a kernel besides its strings: everything from the registers to the validity bits. */
enum {
    KERNEL_FROM = offsetof(struct store_kernel, registers_per_thread),
    KERNEL_BYTES = offsetof(struct store_kernel, check) - KERNEL_FROM,
    CONFIGURATION_SHAPE_BYTES = offsetof(struct store_configuration, max_dynamic_shared_bytes),
    CONFIGURATION_BYTES = offsetof(struct store_configuration, valid)
};

static uint32_t hash_kernel(const char *name, size_t name_bytes, const struct store_kernel *kernel)
{
    return index_hash((const char *)kernel + KERNEL_FROM, KERNEL_BYTES, index_hash(name, name_bytes, 0));
}

static uint32_t hash_known_kernel(uint32_t number)
{
    const struct store_kernel *kernel = store_record(STORE_KERNELS, number);
    return hash_kernel(store_text(&kernel->name), kernel->name.bytes, kernel);
}

static bool same_string(const struct store_string *known, const char *text, size_t bytes)
{
    return known->bytes == bytes && (bytes == 0 || memcmp(store_text(known), text, bytes) == 0);
}

static bool same_kernel(uint32_t number, const void *wanted)
{
    const struct wanted_kernel *want = wanted;
    const struct store_kernel *kernel = store_record(STORE_KERNELS, number);
    return memcmp((const char *)kernel + KERNEL_FROM, (const char *)want->kernel + KERNEL_FROM,
                  KERNEL_BYTES) == 0 &&
           same_string(&kernel->name, want->name, want->name_bytes) &&
           same_string(&kernel->image, want->image, want->image_bytes);
}

static uint32_t hash_configuration(const struct store_configuration *configuration)
{
    return index_hash(configuration, CONFIGURATION_BYTES, 1);
}

static uint32_t hash_known_configuration(uint32_t number)
{
    return hash_configuration(store_record(STORE_CONFIGURATIONS, number));
}

static bool same_configuration(uint32_t number, const void *wanted)
{
    return memcmp(store_record(STORE_CONFIGURATIONS, number), wanted, CONFIGURATION_BYTES) == 0;
}

static struct index kernels = {.hash_of = hash_known_kernel, .equal = same_kernel};
static struct index configurations = {.hash_of = hash_known_configuration, .equal = same_configuration};

void records_close(void)
{
    index_clear(&kernels);
    index_clear(&configurations);
}

static uint32_t add_kernel(const struct wanted_kernel *want)
{
    struct store_kernel kernel = *want->kernel;
    if (!store_add_string(want->name, want->name_bytes, &kernel.name) ||
        !store_add_string(want->image, want->image_bytes, &kernel.image)) {
        return STORE_NO_TARGET;
    }
    kernel.check = store_check(&kernel, KERNEL_FROM);
    return store_add(STORE_KERNELS, &kernel);
}

uint32_t records_kernel(const char *name, const char *image, const struct store_kernel *kernel)
{
    static const struct store_kernel rest = {.valid = STORE_KERNEL_REST};
    if (store_count(STORE_KERNELS) >= RECORDS_MOST_KERNELS) {
        name = "(further kernels)";
        image = "";
        kernel = &rest;
    }
    struct wanted_kernel want = {name, image, strlen(name), strlen(image), kernel};
    uint32_t hash = hash_kernel(name, want.name_bytes, kernel);
    uint32_t number = index_find(&kernels, hash, &want);
    if (number == INDEX_NONE) {
        number = add_kernel(&want);
        if (number != STORE_NO_TARGET) {
            index_insert(&kernels, hash, number);
        }
    }
    return number;
}

uint32_t records_find_configuration(const struct store_configuration *configuration)
{
    uint32_t number = index_find(&configurations, hash_configuration(configuration), configuration);
    return number == INDEX_NONE ? STORE_NO_TARGET : number;
}

uint32_t records_add_configuration(const struct store_configuration *configuration)
{
    uint32_t number = records_find_configuration(configuration);
    if (number != STORE_NO_TARGET || store_count(STORE_CONFIGURATIONS) >= RECORDS_MOST_CONFIGURATIONS) {
        return number;
    }
    struct store_configuration record = *configuration;
    record.first_monotonic_ns = clock_monotonic_ns();
    record.check = store_check(&record, CONFIGURATION_SHAPE_BYTES);
    number = store_add(STORE_CONFIGURATIONS, &record);
    if (number != STORE_NO_TARGET) {
        index_insert(&configurations, hash_configuration(&record), number);
    }
    return number;
}

const char *records_terminated_text(const struct store_string *string)
{
    char *copy = memory_map(string->bytes + 1u);
    if (copy) {
        memcpy(copy, store_text(string), string->bytes);
    }
    return copy;
}
