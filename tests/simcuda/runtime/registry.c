/* The registry: a chained hash table from host addresses to entries, grown as programs register (PyTorch has
 * some hundred thousand kernels). Readers share the lock; loading a fat binary has a lock of its own, so that
 * the driver is never called with the table locked. */
#include "registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum entry_kind {
    ENTRY_FUNCTION,
    ENTRY_VARIABLE,
    ENTRY_MANAGED, /* not placed in memory yet, or by the address of the program's pointer to it */
    ENTRY_PLACED,  /* managed, by its address */
    ENTRY_HANDLE
};

struct entry {
    struct entry *next; /* in its bucket */
    struct entry *next_of_binary;
    const void *host; /* the key */
    enum entry_kind kind;
    const char *name; /* the program's; lives as long as the fat binary */
    size_t bytes;
    void **host_pointer;
    struct fat_binary *binary;
    const void *host_function; /* ENTRY_HANDLE: NULL if the kernel came from a CUlibrary */
    CUlibrary library;         /* ENTRY_HANDLE */
    _Atomic(CUkernel) kernel;  /* NULL until asked for */
};

struct fat_binary {
    const void *image;
    pthread_mutex_t lock; /* over loading */
    CUlibrary library;
    bool loaded;
    struct entry *entries; /* written under the table's lock */
};

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct entry **buckets;
static size_t buckets_count; /* a power of two, or 0 */
static size_t entries_count;

static size_t bucket_of(const void *host, size_t count)
{
    uint64_t key = (uint64_t)(uintptr_t)host;
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (count - 1);
}

static bool table_grow(void)
{
    size_t count = buckets_count == 0 ? 64 : buckets_count * 2;
    struct entry **grown = calloc(count, sizeof(struct entry *));
    if (grown == NULL) {
        return buckets_count != 0;
    }
    for (size_t i = 0; i < buckets_count; i++) {
        for (struct entry *entry = buckets[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            size_t bucket = bucket_of(entry->host, count);
            entry->next = grown[bucket];
            grown[bucket] = entry;
        }
    }
    free(buckets);
    buckets = grown;
    buckets_count = count;
    return true;
}

static struct entry *table_find(const void *host)
{
    struct entry *entry = NULL;
    pthread_rwlock_rdlock(&table_lock);
    if (buckets_count != 0) {
        for (entry = buckets[bucket_of(host, buckets_count)]; entry != NULL && entry->host != host;) {
            entry = entry->next;
        }
    }
    pthread_rwlock_unlock(&table_lock);
    return entry;
}

static void table_add(const struct entry *entry)
{
    struct entry *added = malloc(sizeof(*added));
    if (added == NULL) {
        return;
    }
    *added = *entry;
    pthread_rwlock_wrlock(&table_lock);
    if (entries_count < buckets_count || table_grow()) {
        size_t bucket = bucket_of(entry->host, buckets_count);
        added->next = buckets[bucket];
        buckets[bucket] = added;
        entries_count++;
        if (added->binary != NULL) {
            added->next_of_binary = added->binary->entries;
            added->binary->entries = added;
        }
    } else {
        free(added);
    }
    pthread_rwlock_unlock(&table_lock);
}

static void unlink_entry(struct entry **link)
{
    struct entry *entry = *link;
    *link = entry->next;
    free(entry);
    entries_count--;
}

static struct entry **bucket_link(const struct entry *entry)
{
    struct entry **link = &buckets[bucket_of(entry->host, buckets_count)];
    while (*link != entry) {
        link = &(*link)->next;
    }
    return link;
}

/* --- registering ---------------------------------------------------------------------------------------- */

struct fat_binary *registry_add_binary(const void *image)
{
    struct fat_binary *binary = calloc(1, sizeof(*binary));
    if (binary != NULL) {
        binary->image = image;
        pthread_mutex_init(&binary->lock, NULL);
    }
    return binary;
}

void registry_add_function(struct fat_binary *binary, const void *host, const char *name)
{
    table_add(&(struct entry){.host = host, .kind = ENTRY_FUNCTION, .name = name, .binary = binary});
}

void registry_add_variable(struct fat_binary *binary, const void *host, const char *name, size_t bytes,
                           void **host_pointer)
{
    table_add(&(struct entry){.host = host,
                              .kind = host_pointer != NULL ? ENTRY_MANAGED : ENTRY_VARIABLE,
                              .name = name,
                              .bytes = bytes,
                              .host_pointer = host_pointer,
                              .binary = binary});
}

void registry_add_handle(const void *handle, const void *host, CUkernel kernel, CUlibrary library)
{
    if (table_find(handle) == NULL) {
        table_add(&(struct entry){.host = handle,
                                  .kind = ENTRY_HANDLE,
                                  .host_function = host,
                                  .library = library,
                                  .kernel = kernel});
    }
}

void registry_remove_handles(CUlibrary library)
{
    pthread_rwlock_wrlock(&table_lock);
    for (size_t i = 0; i < buckets_count; i++) {
        for (struct entry **link = &buckets[i]; *link != NULL;) {
            if ((*link)->kind == ENTRY_HANDLE && (*link)->library == library) {
                unlink_entry(link);
            } else {
                link = &(*link)->next;
            }
        }
    }
    pthread_rwlock_unlock(&table_lock);
}

void registry_remove_binary(struct fat_binary *binary)
{
    if (binary->loaded) {
        registry_remove_handles(binary->library);
        driver_tables[STREAM_LEGACY].cuLibraryUnload(binary->library);
    }
    pthread_rwlock_wrlock(&table_lock);
    for (struct entry *entry = binary->entries, *next; entry != NULL; entry = next) {
        next = entry->next_of_binary;
        unlink_entry(bucket_link(entry));
    }
    pthread_rwlock_unlock(&table_lock);
    pthread_mutex_destroy(&binary->lock);
    free(binary);
}

/* --- loading -------------------------------------------------------------------------------------------- */

/* Programs name a managed variable by the address that it is given here. */
static CUresult place_managed(const struct driver_api *driver, struct fat_binary *binary,
                              const struct entry *entry)
{
    CUdeviceptr address = 0;
    size_t bytes;
    CUresult result = driver->cuLibraryGetManaged(&address, &bytes, binary->library, entry->name);
    if (result == CUDA_SUCCESS) {
        *entry->host_pointer = (void *)address;
        table_add(&(struct entry){.host = (void *)address,
                                  .kind = ENTRY_PLACED,
                                  .name = entry->name,
                                  .bytes = bytes,
                                  .binary = binary});
    }
    return result;
}

static CUresult place_all_managed(const struct driver_api *driver, struct fat_binary *binary)
{
    CUresult result = CUDA_SUCCESS;
    for (struct entry *entry = binary->entries; entry != NULL && result == CUDA_SUCCESS;
         entry = entry->next_of_binary) {
        if (entry->kind == ENTRY_MANAGED) {
            result = place_managed(driver, binary, entry);
        }
    }
    return result;
}

/* The first launch of a kernel may come inside a stream capture, which forbids the client to load code. */
static CUresult load(const struct driver_api *driver, struct fat_binary *binary)
{
    CUlibraryOption preserved = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *yes = (void *)1;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    driver->cuThreadExchangeStreamCaptureMode(&mode);
    CUresult result =
        driver->cuLibraryLoadData(&binary->library, binary->image, NULL, NULL, 0, &preserved, &yes, 1);
    driver->cuThreadExchangeStreamCaptureMode(&mode);
    return result;
}

cudaError_t registry_load_binary(const struct driver_api *driver, struct fat_binary *binary)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&binary->lock);
    if (!binary->loaded) {
        result = load(driver, binary);
        binary->loaded = result == CUDA_SUCCESS;
        if (binary->loaded) {
            result = place_all_managed(driver, binary);
        }
    }
    pthread_mutex_unlock(&binary->lock);
    return (cudaError_t)result;
}

/* --- looking up ----------------------------------------------------------------------------------------- */

cudaError_t registry_kernel(const struct driver_api *driver, const void *function, CUkernel *kernel)
{
    struct entry *entry = table_find(function);
    if (entry == NULL || (entry->kind != ENTRY_FUNCTION && entry->kind != ENTRY_HANDLE)) {
        return cudaErrorInvalidDeviceFunction;
    }
    *kernel = atomic_load_explicit(&entry->kernel, memory_order_acquire);
    if (*kernel != NULL) {
        return cudaSuccess;
    }
    cudaError_t error = registry_load_binary(driver, entry->binary);
    if (error != cudaSuccess) {
        return error;
    }
    if (driver->cuLibraryGetKernel(kernel, entry->binary->library, entry->name) != CUDA_SUCCESS) {
        return cudaErrorInvalidDeviceFunction;
    }
    atomic_store_explicit(&entry->kernel, *kernel, memory_order_release);
    registry_add_handle(*kernel, function, *kernel, entry->binary->library);
    return cudaSuccess;
}

const void *registry_host_function(CUkernel kernel)
{
    const struct entry *handle = table_find(kernel);
    return handle != NULL && handle->host_function != NULL ? handle->host_function : kernel;
}

cudaError_t registry_variable(const struct driver_api *driver, const void *symbol, CUdeviceptr *address,
                              size_t *bytes)
{
    const struct entry *entry = table_find(symbol);
    if (entry == NULL || entry->kind == ENTRY_FUNCTION || entry->kind == ENTRY_HANDLE) {
        return cudaErrorInvalidSymbol;
    }
    cudaError_t error = registry_load_binary(driver, entry->binary);
    if (error != cudaSuccess) {
        return error;
    }
    CUlibrary library = entry->binary->library;
    CUresult result = entry->kind == ENTRY_VARIABLE
                          ? driver->cuLibraryGetGlobal(address, bytes, library, entry->name)
                          : driver->cuLibraryGetManaged(address, bytes, library, entry->name);
    return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : (cudaError_t)result;
}
