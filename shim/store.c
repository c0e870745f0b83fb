/* Growth of the store: extents at the end of one reserved mapping. */
#include "store.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "message.h"

struct store store = {.file = -1};

enum { SMALLEST_RESERVE_BYTES = 4 << 20 };
static const uint64_t reserve_bytes[] = {1ull << 30, 256ull << 20, 32ull << 20, SMALLEST_RESERVE_BYTES};

enum { FIRST_ALLOCATION_BYTES = 64 << 10, LARGEST_STEP_BYTES = 1 << 20, LARGEST_EXTENT_BYTES = 1 << 20 };

bool store_owns_file(void)
{
    return file_is(store.file, &store.identity);
}

/* Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ, which ends a program that does not expect it. */
static bool exceeds_limit(uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

/* Some programs close every descriptor they do not know. The number may be another file's by now: leave it
 * alone. */
static bool reopen(void)
{
    store.file = open(store.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (store.file >= 0 && !store_owns_file()) {
        close(store.file);
        store.file = -1;
    }
    return store.file >= 0;
}

static int allocate_file(uint64_t from, uint64_t to)
{
    if (!store_owns_file() && !reopen()) {
        return EBADF;
    }
    if (exceeds_limit(to)) {
        return EFBIG;
    }
    /* glibc's fallback for file systems without fallocate writes to each block: slower, as safe. */
    int failure;
    do {
        failure = posix_fallocate(store.file, (off_t)from, (off_t)(to - from));
    } while (failure == EINTR);
    return failure;
}

/* Said once; what still fits goes on being counted in detail, the rest kernel by kernel or as lost. */
static int fail(int failure)
{
    if (store.failure == 0 && store.used_bytes) {
        message("the store cannot grow: %s; what is new from now on is not told apart", strerror(failure));
    }
    store.failure = store.failure ? store.failure : failure;
    return failure;
}

static int allocate(uint64_t end)
{
    if (end <= store.allocated_bytes) {
        return 0;
    }
    if (end > store.reserved_bytes) {
        return fail(ENOMEM);
    }
    uint64_t step = store.allocated_bytes ? store.allocated_bytes : FIRST_ALLOCATION_BYTES;
    step = step < LARGEST_STEP_BYTES ? step : LARGEST_STEP_BYTES;
    uint64_t to = round_up(end, step);
    to = to < store.reserved_bytes ? to : store.reserved_bytes;
    int failure = store.path ? allocate_file(store.allocated_bytes, to) : 0;
    if (failure) {
        to = end; /* nearly full: the little that is needed may still be there */
        failure = allocate_file(store.allocated_bytes, to);
    }
    if (failure) {
        return fail(failure);
    }
    store.allocated_bytes = to;
    return 0;
}

/* The mapping reaches past the end of the file; only allocated parts of it are ever touched. */
static uint64_t address_space_share(void)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? limit.rlim_cur / 16 : UINT64_MAX; /* the program needs the rest */
}

static int reserve(int file)
{
    uint64_t most = address_space_share();
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    for (size_t i = 0; i < sizeof reserve_bytes / sizeof *reserve_bytes; i++) {
        if (reserve_bytes[i] > most && reserve_bytes[i] > SMALLEST_RESERVE_BYTES) {
            continue;
        }
        void *base = mmap(NULL, reserve_bytes[i], PROT_READ | PROT_WRITE, flags, file, 0);
        if (base != MAP_FAILED) {
            store.base = base;
            store.reserved_bytes = reserve_bytes[i];
            return 0;
        }
    }
    return errno;
}

void store_unmap(void)
{
    if (store.base) {
        munmap(store.base, store.reserved_bytes);
    }
    store = (struct store){.file = -1};
}

int store_map(int file, const char *path)
{
    store = (struct store){.file = file, .path = file < 0 ? NULL : path};
    int failure = file < 0 ? 0 : file_identify(file, &store.identity);
    failure = failure ? failure : reserve(file);
    failure = failure ? failure : allocate(STORE_BLOCK_BYTES);
    if (failure) {
        store_unmap();
        return failure;
    }
    store.used_bytes = STORE_BLOCK_BYTES;
    return 0;
}

struct store_extent *store_extend(enum store_kind kind, uint32_t owner, uint64_t bytes)
{
    uint32_t record_bytes = store_record_bytes(kind);
    bytes = round_up(bytes, STORE_BLOCK_BYTES);
    if (store.base == NULL || record_bytes == 0 || allocate(store.used_bytes + bytes) != 0) {
        return NULL;
    }
    struct store_extent *extent = (struct store_extent *)(store.base + store.used_bytes);
    extent->kind = kind;
    extent->bytes = bytes;
    extent->record_bytes = record_bytes;
    extent->capacity = (uint32_t)((bytes - sizeof *extent) / record_bytes);
    extent->owner = owner;
    store_release((_Atomic uint32_t *)&extent->magic, STORE_EXTENT_MAGIC);
    store.used_bytes += bytes;
    store_release((_Atomic uint64_t *)&store_header()->file_bytes, store.used_bytes);
    return extent;
}

/* --- holes --------------------------------------------------------------------------------------------- */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static bool has_late_space(long file_system)
{
    static const struct {
        long number;
        bool late_space;
    } known[] = {
#define LOCAL_FILE_SYSTEM(number, name, late_space) {number, late_space},
#include "local_file_systems.def"
#undef LOCAL_FILE_SYSTEM
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].number == file_system) {
            return known[i].late_space;
        }
    }
    return false;
}

void store_permit_holes(void)
{
    struct statfs status;
    store.holes = store.file >= 0 && fstatfs(store.file, &status) == 0 && has_late_space((long)status.f_type);
}

/* By its last block alone, and never by ftruncate: the descriptor might be another file's. No fallback of
 * glibc's either: an old file system that cannot allocate ahead cannot be trusted to do it late. */
static bool move_end(uint64_t end)
{
    return (store_owns_file() || reopen()) && !exceeds_limit(end) &&
           syscall(SYS_fallocate, store.file, 0, (off_t)(end - STORE_BLOCK_BYTES),
                   (off_t)STORE_BLOCK_BYTES) == 0;
}

struct store_extent *store_extend_hole(enum store_kind kind, uint32_t owner, uint64_t bytes)
{
    uint64_t end = store.used_bytes + round_up(bytes, STORE_BLOCK_BYTES);
    if (store.holes && end > store.allocated_bytes && end <= store.reserved_bytes) {
        const char *first = store.base + store.used_bytes;
        store.holes = move_end(end) && store_populate(first, first + PAGE_BYTES);
        store.allocated_bytes = store.holes ? end : store.allocated_bytes;
    }
    return store_extend(kind, owner, bytes);
}

bool store_populate(const void *first, const void *end)
{
    uintptr_t from = (uintptr_t)first / PAGE_BYTES * PAGE_BYTES, to = round_up((uintptr_t)end, PAGE_BYTES);
    return madvise((void *)from, to - from, MADV_POPULATE_WRITE) == 0;
}

bool store_fill(const void *first, const void *end)
{
    store.holes = false;
    int failure = allocate_file((uint64_t)((const char *)first - store.base),
                                (uint64_t)((const char *)end - store.base));
    return failure == 0 || fail(failure) == 0;
}

/* --- records ------------------------------------------------------------------------------------------- */

static struct store_extent *last_extent(const struct store_run *run)
{
    return (struct store_extent *)(store.base + run->extent[run->extents - 1].offset);
}

/* Room for `bytes` at the end of the kind's records; a kind's extents double up to 1 MB. */
static struct store_extent *room(enum store_kind kind, uint64_t bytes)
{
    struct store_run *run = &store.runs[kind];
    if (run->extents) {
        struct store_extent *last = last_extent(run);
        if ((uint64_t)(last->capacity - last->used) * store_record_bytes(kind) >= bytes) {
            return last;
        }
    }
    if (run->extents == STORE_EXTENTS_PER_KIND) {
        return NULL;
    }
    uint64_t size = (uint64_t)STORE_BLOCK_BYTES << (run->extents < 8 ? run->extents : 8);
    uint64_t needed = bytes + sizeof(struct store_extent);
    struct store_extent *extent = store_extend(kind, 0, size > needed ? size : needed);
    if (extent) {
        run->extent[run->extents].offset = (uint64_t)((char *)extent - store.base);
        run->extent[run->extents].first = run->records;
        run->extent[run->extents].capacity = extent->capacity;
        run->extents++;
    }
    return extent;
}

static void *append(enum store_kind kind, const void *bytes, uint32_t records)
{
    struct store_run *run = &store.runs[kind];
    struct store_extent *extent = room(kind, (uint64_t)records * store_record_bytes(kind));
    if (extent == NULL) {
        return NULL;
    }
    char *place = (char *)(extent + 1) + (uint64_t)extent->used * store_record_bytes(kind);
    memcpy(place, bytes, (size_t)records * store_record_bytes(kind));
    store_release((_Atomic uint32_t *)&extent->used, extent->used + records);
    run->records += records;
    return place;
}

uint32_t store_add(enum store_kind kind, const void *record)
{
    return append(kind, record, 1) ? store.runs[kind].records - 1 : STORE_NO_TARGET;
}

uint32_t store_count(enum store_kind kind)
{
    return store.runs[kind].records;
}

void *store_record(enum store_kind kind, uint32_t index)
{
    const struct store_run *run = &store.runs[kind];
    uint32_t i = run->extents - 1;
    while (index < run->extent[i].first) {
        i--;
    }
    char *records = store.base + run->extent[i].offset + sizeof(struct store_extent);
    return records + (uint64_t)(index - run->extent[i].first) * store_record_bytes(kind);
}

bool store_add_string(const char *text, uint64_t bytes, struct store_string *string)
{
    *string = (struct store_string){0};
    if (bytes == 0) {
        return true;
    }
    char *place = bytes > UINT32_MAX ? NULL : append(STORE_STRINGS, text, (uint32_t)bytes);
    if (place == NULL) {
        return false;
    }
    string->offset = (uint64_t)(place - store.base);
    string->bytes = (uint32_t)bytes;
    return true;
}

const char *store_text(const struct store_string *string)
{
    return store.base + string->offset;
}
