/* Serves open, fstat, pread and kin for stores in memory. Any other path is not there: a store may name
 * files, and the fuzzer must not open what it makes up. */
#include "virtual_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/store_format.h"

enum { PIECES_MAX = 128, RECORDS_MOST_BYTES = 1 << 16, FIRST_DESCRIPTOR = 100000 };

/* Bytes at an offset of the file; what no piece holds is zero. */
struct piece {
    uint64_t offset;
    const uint8_t *bytes;
    size_t count;
};

static struct virtual_store {
    struct piece pieces[PIECES_MAX];
    unsigned pieces_count;
    uint64_t size_bytes;
} stores[VIRTUAL_STORES_MAX];
static unsigned stores_count;
static bool active; /* else system calls are real: libFuzzer makes some itself */

static const char *const paths[VIRTUAL_STORES_MAX] = {"/virtual/0.ww", "/virtual/1.ww", "/virtual/2.ww",
                                                      "/virtual/3.ww", "/virtual/4.ww", "/virtual/5.ww"};

const char *virtual_store_path(unsigned number)
{
    return paths[number];
}

/* --- from input to stores ------------------------------------------------------------------------------ */

struct input {
    uint8_t *bytes;
    size_t count;
};

static uint8_t *take(struct input *input, size_t count)
{
    uint8_t *taken = input->bytes;
    input->bytes += count;
    input->count -= count;
    return taken;
}

static void put(struct virtual_store *store, const uint8_t *bytes, size_t count, uint64_t offset)
{
    store->pieces[store->pieces_count++] = (struct piece){offset, bytes, count};
}

static size_t check_offset(uint32_t kind)
{
    static const size_t offsets[] = {[STORE_DEVICES] = offsetof(struct store_device, check),
                                     [STORE_KERNELS] = offsetof(struct store_kernel, check),
                                     [STORE_CONFIGURATIONS] = offsetof(struct store_configuration, check),
                                     [STORE_BODIES] = offsetof(struct store_body, check)};
    return kind < sizeof offsets / sizeof *offsets ? offsets[kind] : 0;
}

static size_t guarded_bytes(uint32_t kind)
{
    return kind == STORE_KERNELS          ? 2 * sizeof(struct store_string)
           : kind == STORE_CONFIGURATIONS ? offsetof(struct store_configuration, max_dynamic_shared_bytes)
                                          : check_offset(kind);
}

static void put_check(uint8_t *record, size_t guarded, size_t at)
{
    uint32_t check = store_check(record, guarded);
    memcpy(record + at, &check, sizeof check);
}

/* 0 stays: an order that is not known. */
static void put_order_check(uint8_t *record)
{
    struct store_body body;
    memcpy(&body, record, sizeof body);
    body.order_check = body.order_check ? store_order_check(&body) : 0;
    memcpy(record, &body, sizeof body);
}

static void put_checks(const struct store_extent *extent, uint8_t *records, size_t count)
{
    size_t at = check_offset(extent->kind), step = extent->record_bytes;
    for (; at && step >= at + 4 && count >= step; count -= step, records += step) {
        put_check(records, guarded_bytes(extent->kind), at);
        if (extent->kind == STORE_BODIES && step >= sizeof(struct store_body)) {
            put_order_check(records);
        }
    }
}

/* Where the next extent begins. */
static uint64_t place_extent(struct virtual_store *store, struct input *input, uint64_t offset, unsigned mode)
{
    struct store_extent extent;
    uint8_t *head = take(input, sizeof extent);
    memcpy(&extent, head, sizeof extent);
    if (mode & VIRTUAL_WHOLE_CHAIN) {
        extent.magic = STORE_EXTENT_MAGIC;
        extent.record_bytes =
            store_record_bytes(extent.kind) ? store_record_bytes(extent.kind) : extent.record_bytes | 1;
    }
    uint64_t wanted = (uint64_t)extent.used * extent.record_bytes;
    size_t count = wanted < input->count ? (size_t)wanted : input->count;
    count = count < RECORDS_MOST_BYTES ? count : RECORDS_MOST_BYTES;
    uint64_t bytes = (sizeof extent + count + STORE_BLOCK_BYTES - 1) / STORE_BLOCK_BYTES * STORE_BLOCK_BYTES;
    if (mode & VIRTUAL_WHOLE_CHAIN) {
        extent.bytes = bytes;
        extent.capacity = (uint32_t)((bytes - sizeof extent) / extent.record_bytes);
    }
    memcpy(head, &extent, sizeof extent);
    uint8_t *records = take(input, count);
    if (mode & VIRTUAL_CHECKS) {
        put_checks(&extent, records, count);
    }
    put(store, head, sizeof extent, offset);
    put(store, records, count, offset + sizeof extent);
    return offset + bytes;
}

static void place_store(struct virtual_store *store, struct input *input, unsigned mode)
{
    size_t header_bytes = sizeof(struct store_header);
    header_bytes = header_bytes < input->count ? header_bytes : input->count;
    uint8_t *header = take(input, header_bytes);
    if ((mode & VIRTUAL_CHECKS) && header_bytes == sizeof(struct store_header)) {
        put_check(header, offsetof(struct store_header, check), offsetof(struct store_header, check));
    }
    put(store, header, header_bytes, 0);
    uint64_t end = header_bytes < sizeof(struct store_header) ? header_bytes : STORE_BLOCK_BYTES;
    while (input->count >= sizeof(struct store_extent) && memcmp(input->bytes, "\0\0\0", 4) != 0 &&
           store->pieces_count + 2 <= PIECES_MAX) {
        end = place_extent(store, input, end, mode);
    }
    store->size_bytes = end;
}

void virtual_stores_close(void)
{
    active = false;
}

unsigned virtual_stores_open(uint8_t *bytes, size_t count)
{
    active = true;
    struct input input = {bytes, count};
    unsigned mode = count ? *take(&input, 1) : 0;
    stores_count = 0;
    while (input.count && stores_count < VIRTUAL_STORES_MAX) {
        struct virtual_store *store = &stores[stores_count++];
        store->pieces_count = 0;
        place_store(store, &input, mode);
        take(&input, input.count < 4 ? input.count : 4);
    }
    return stores_count;
}

/* --- as files ------------------------------------------------------------------------------------------ */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_close(int file);
int __wrap_close(int file);
int __real_fstat(int file, struct stat *status);
int __wrap_fstat(int file, struct stat *status);
int __real_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status);
int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __real_flock(int file, int operation);
int __wrap_flock(int file, int operation);
ssize_t __real_pread(int file, void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pread(int file, void *buffer, size_t bytes, off_t offset);

static const struct virtual_store *store_at(const char *path)
{
    for (unsigned i = 0; i < stores_count; i++) {
        if (strcmp(path, paths[i]) == 0) {
            return &stores[i];
        }
    }
    return NULL;
}

static const struct virtual_store *store_open_as(int file)
{
    return file >= FIRST_DESCRIPTOR ? &stores[file - FIRST_DESCRIPTOR] : NULL;
}

static int status_of(const struct virtual_store *store, struct stat *status)
{
    if (store == NULL) {
        errno = ENOENT;
        return -1;
    }
    *status = (struct stat){.st_mode = S_IFREG | 0600, .st_size = (off_t)store->size_bytes};
    return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    if (!active) {
        va_list arguments;
        va_start(arguments, flags);
        int mode = va_arg(arguments, int);
        va_end(arguments);
        return __real_open(path, flags, mode);
    }
    const struct virtual_store *store = store_at(path);
    errno = ENOENT;
    return store ? FIRST_DESCRIPTOR + (int)(store - stores) : -1;
}

int __wrap_close(int file)
{
    return store_open_as(file) ? 0 : __real_close(file);
}

int __wrap_fstat(int file, struct stat *status)
{
    return store_open_as(file) ? status_of(store_open_as(file), status) : __real_fstat(file, status);
}

int __wrap_stat(const char *path, struct stat *status)
{
    return active ? status_of(store_at(path), status) : __real_stat(path, status);
}

int __wrap_access(const char *path, int mode)
{
    struct stat status;
    return active ? status_of(store_at(path), &status) : __real_access(path, mode);
}

int __wrap_flock(int file, int operation)
{
    if (!store_open_as(file)) {
        return __real_flock(file, operation);
    }
    errno = EWOULDBLOCK;
    return file % 2 ? -1 : 0; /* every other store's writer lives */
}

static ssize_t read_store(const struct virtual_store *store, void *buffer, size_t bytes, uint64_t from)
{
    if (from >= store->size_bytes) {
        return 0;
    }
    uint64_t to = bytes < store->size_bytes - from ? from + bytes : store->size_bytes;
    memset(buffer, 0, (size_t)(to - from));
    for (unsigned i = 0; i < store->pieces_count; i++) {
        const struct piece *piece = &store->pieces[i];
        uint64_t begin = piece->offset > from ? piece->offset : from;
        uint64_t end = piece->offset + piece->count < to ? piece->offset + piece->count : to;
        if (begin < end) {
            memcpy((char *)buffer + (begin - from), piece->bytes + (begin - piece->offset),
                   (size_t)(end - begin));
        }
    }
    return (ssize_t)(to - from);
}

ssize_t __wrap_pread(int file, void *buffer, size_t bytes, off_t offset)
{
    return store_open_as(file) ? read_store(store_open_as(file), buffer, bytes, (uint64_t)offset)
                               : __real_pread(file, buffer, bytes, offset);
}
