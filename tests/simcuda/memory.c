/* Which memory there is: all ranges in one array, sorted by address. */
#include "memory.h"

#include "memory_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Above this a range is a mapping of its own that takes room only where it is touched. */
#define MAPPING_LEAST_BYTES ((size_t)64 << 10)
#define ALIGNMENT_BYTES     ((size_t)512)

static struct {
    pthread_rwlock_t lock;
    struct memory_range *ranges;
    size_t count, capacity;
    uint64_t next_id;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER, .next_id = 1};

/* --- the table ----------------------------------------------------------------------------------------- */

/* Number of ranges that start at or before `address`. */
static size_t position_of(CUdeviceptr address)
{
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table.ranges[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct memory_range *lookup(CUdeviceptr address)
{
    size_t position = position_of(address);
    struct memory_range *range = position ? &table.ranges[position - 1] : NULL;
    return range && address - range->address < range->bytes ? range : NULL;
}

static bool insert(struct memory_range *range)
{
    if (table.count == table.capacity) {
        size_t capacity = table.capacity ? table.capacity * 2 : 256;
        struct memory_range *ranges = realloc(table.ranges, capacity * sizeof(*ranges));
        if (!ranges) {
            return false;
        }
        table.ranges = ranges;
        table.capacity = capacity;
    }
    size_t position = position_of(range->address);
    memmove(&table.ranges[position + 1], &table.ranges[position],
            (table.count - position) * sizeof(*table.ranges));
    range->id = table.next_id++;
    table.ranges[position] = *range;
    table.count++;
    return true;
}

static void remove_at(struct memory_range *range)
{
    size_t position = (size_t)(range - table.ranges);
    table.count--;
    memmove(range, range + 1, (table.count - position) * sizeof(*range));
}

bool memory_find(CUdeviceptr address, struct memory_range *range)
{
    pthread_rwlock_rdlock(&table.lock);
    struct memory_range *found = lookup(address);
    if (found) {
        *range = *found;
    }
    pthread_rwlock_unlock(&table.lock);
    return found != NULL;
}

bool memory_holds(CUdeviceptr address, size_t bytes, unsigned kinds)
{
    struct memory_range range;
    return memory_find(address, &range) && (range.kind & kinds) &&
           bytes <= range.bytes - (address - range.address);
}

/* --- memory behind the ranges -------------------------------------------------------------------------- */

static void *back(size_t bytes)
{
    if (bytes < MAPPING_LEAST_BYTES) {
        size_t rounded = (bytes + ALIGNMENT_BYTES - 1) & ~(ALIGNMENT_BYTES - 1);
        void *memory = aligned_alloc(ALIGNMENT_BYTES, rounded);
        return memory ? memset(memory, 0, rounded) : NULL;
    }
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unback(const struct memory_range *range)
{
    if (range->kind & (MEMORY_REGISTERED | MEMORY_MAPPED)) {
        return;
    }
    if (range->bytes < MAPPING_LEAST_BYTES) {
        free((void *)range->address);
    } else {
        munmap((void *)range->address, range->bytes);
    }
}

static bool charge(struct device *device, size_t bytes)
{
    if (!device) {
        return true;
    }
    uint64_t total = (uint64_t)device->model->memory_mib << 20;
    uint64_t used = atomic_load(&device->used_bytes);
    do {
        if (bytes > total - used) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&device->used_bytes, &used, used + bytes));
    return true;
}

static void discharge(const struct memory_range *range)
{
    if (range->device) {
        atomic_fetch_sub(&range->device->used_bytes, range->bytes);
    }
    if (range->pool) {
        memory_pool_gave(range->pool, range->bytes);
    }
}

CUresult memory_register(struct memory_range *range)
{
    pthread_rwlock_wrlock(&table.lock);
    bool inserted = insert(range);
    pthread_rwlock_unlock(&table.lock);
    return inserted ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult memory_allocate(struct memory_range *range)
{
    if (!charge(range->device, range->bytes)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (range->pool) {
        memory_pool_took(range->pool, range->bytes);
    }
    void *memory = back(range->bytes);
    range->address = (CUdeviceptr)memory;
    if (!memory || memory_register(range) != CUDA_SUCCESS) {
        discharge(range);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult memory_release(CUdeviceptr address, unsigned kinds)
{
    pthread_rwlock_wrlock(&table.lock);
    struct memory_range *found = lookup(address);
    bool valid = found && found->address == address && (found->kind & kinds);
    struct memory_range range = {0};
    if (valid) {
        range = *found;
        remove_at(found);
    }
    pthread_rwlock_unlock(&table.lock);
    if (!valid) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    discharge(&range);
    unback(&range);
    return CUDA_SUCCESS;
}

void memory_context_ended(struct CUctx_st *context)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t kept = 0;
    for (size_t i = 0; i < table.count; i++) {
        struct memory_range *range = &table.ranges[i];
        if (range->context_id == context->id) {
            discharge(range);
            unback(range);
        } else {
            table.ranges[kept++] = *range;
        }
    }
    table.count = kept;
    pthread_rwlock_unlock(&table.lock);
}
