/* A file of tests/fuzz/corpus in memory, for tests that break one field of a good image. */
#ifndef WARPWATCH_SEED_H
#define WARPWATCH_SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seed {
    unsigned char *bytes;
    size_t size;
};

/* SEED_FOLDER is given by the build. */
static inline struct seed seed_read(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, SEED_FOLDER "/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static unsigned char whole[1u << 20];
    struct seed seed = {.size = fread(whole, 1, sizeof whole, file)};
    fclose(file);
    assert_true(seed.size > 0);
    seed.bytes = malloc(seed.size ? seed.size : 1); /* exact, so that a sanitizer sees each byte too far */
    memcpy(seed.bytes, whole, seed.size);
    return seed;
}

static inline void seed_free(struct seed *seed)
{
    free(seed->bytes);
}

static inline void put_u32(struct seed *seed, size_t offset, uint32_t value)
{
    memcpy(seed->bytes + offset, &value, sizeof value);
}

static inline void put_u64(struct seed *seed, size_t offset, uint64_t value)
{
    memcpy(seed->bytes + offset, &value, sizeof value);
}

#endif
