/* Fuzz target: containers, codecs, cubins and PTX, as any byte string. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "report/cubin/cubin.h"

/* Larger claims are tested for refusal only, or the fuzzer would spend its time in memset. */
#define UNPACKED_MOST_BYTES (4u << 20)

static bool use_kernel(const struct cubin_kernel *kernel, void *context)
{
    size_t *sum = context;
    *sum += strlen(kernel->name);
    for (uint32_t i = 0; i < kernel->parameters_count; i++) {
        *sum += kernel->parameters[i].offset;
    }
    return true;
}

static bool use_global(const struct cubin_global *global, void *context)
{
    size_t *sum = context;
    *sum += strlen(global->name);
    return true;
}

static void read_image(const unsigned char *image, size_t size, size_t *sum)
{
    struct cubin_info info;
    cubin_read(image, size, &info, use_kernel, sum);
    cubin_read_globals(image, size, use_global, sum);
    ptx_read((const char *)image, size, &info, use_kernel, sum);
}

static bool use_entry(const struct fatbin_entry *entry, void *context)
{
    size_t *sum = context;
    if (entry->uncompressed_bytes > UNPACKED_MOST_BYTES) {
        return true;
    }
    unsigned char *image = malloc(entry->uncompressed_bytes + 1);
    if (image && fatbin_decode(entry, image) == CUBIN_OK) {
        read_image(image, entry->uncompressed_bytes, sum);
    }
    for (uint32_t i = 0; i < entry->identifier_bytes; i++) {
        *sum += (unsigned char)entry->identifier[i];
    }
    free(image);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t sum = 0;
    /* An exact copy, so that a sanitizer sees each byte read past the end. */
    unsigned char *copy = malloc(size ? size : 1);
    if (copy) {
        memcpy(copy, data, size);
        fatbin_walk(copy, size, use_entry, &sum, NULL);
        read_image(copy, size, &sum);
        free(copy);
    }
    static volatile size_t sink;
    sink = sum;
    (void)sink;
    return 0;
}
