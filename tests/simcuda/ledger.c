/* The ledger's writer. Each thread has a shard of its own, so counting takes no lock and no atomic
 * read-modify-write; a launch seen before is found through a hash table beside the shard. */
#include "ledger.h"
#include "ledger_format.h"

#include "context.h"
#include "function.h"
#include "launch.h"
#include "observer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define ARENA_BYTES ((uint64_t)4 << 30) /* sparse: only what is used takes room */
#define GROWTH      ((uint64_t)1 << 20)
#define HASH_LEAST  64u

struct ledger_thread {
    struct ledger_thread *next_free;
    struct ledger_shard *shard;
    struct ledger_page *page;
    struct ledger_launch **table; /* open addressing, NULL = free */
    unsigned capacity, filled;
    struct ledger_launch *last;
};

static struct {
    pthread_mutex_t lock;
    char *base;
    uint64_t size_bytes, backed_bytes; /* mapped; allocated in the file */
    int file;
    struct ledger_thread *free_threads;
    char **names; /* open addressing, NULL = free: a name is noted once, however often its module is loaded */
    unsigned name_capacity, name_count;
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

static struct ledger_header *header(void)
{
    return (struct ledger_header *)arena.base;
}

static uint64_t offset_of(const void *block)
{
    return (uint64_t)((const char *)block - arena.base);
}

/* --- the file ------------------------------------------------------------------------------------------ */

static int file_make(uint64_t created_ns)
{
    const char *directory = getenv("SIMCUDA_LEDGER_DIRECTORY");
    if (!directory || !*directory) {
        return -1;
    }
    char path[4096];
    snprintf(path, sizeof(path), "%s/%ld.%llu.ledger", directory, (long)getpid(),
             (unsigned long long)created_ns);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static bool map(uint64_t size_bytes)
{
    int flags = arena.file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (arena.file >= 0 && ftruncate(arena.file, (off_t)size_bytes) != 0) {
        return false;
    }
    void *base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, arena.file, 0);
    if (base == MAP_FAILED) {
        return false;
    }
    arena.base = base;
    arena.size_bytes = size_bytes;
    return true;
}

/* Pages are allocated before they are touched: on a full disk a store to a hole would be a SIGBUS. */
static bool back(uint64_t used_bytes)
{
    if (used_bytes > arena.size_bytes) {
        return false;
    }
    while (used_bytes > arena.backed_bytes) {
        if (arena.file >= 0 && posix_fallocate(arena.file, (off_t)arena.backed_bytes, (off_t)GROWTH) != 0) {
            return false;
        }
        arena.backed_bytes += GROWTH;
    }
    return true;
}

/* To exceed the limit on file sizes would be a signal. */
static uint64_t largest_bytes(void)
{
    struct rlimit limit;
    bool limited = arena.file >= 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ARENA_BYTES;
    return limited ? limit.rlim_cur / GROWTH * GROWTH : ARENA_BYTES;
}

static bool map_largest(uint64_t size_bytes)
{
    while (size_bytes >= GROWTH && !map(size_bytes)) {
        size_bytes /= 2;
    }
    return arena.base && back(sizeof(struct ledger_header));
}

/* The program can run, but nobody will read what it did. */
static bool map_in_memory(void)
{
    if (arena.base) {
        munmap(arena.base, arena.size_bytes);
        arena.base = NULL;
    }
    if (arena.file >= 0) {
        fprintf(stderr, "simcuda: no room for a ledger in SIMCUDA_LEDGER_DIRECTORY\n");
        close(arena.file);
        arena.file = -1;
    }
    return map_largest(ARENA_BYTES);
}

static void arena_open(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t created_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    arena.file = file_make(created_ns);
    if (!map_largest(largest_bytes()) && !map_in_memory()) {
        fprintf(stderr, "simcuda: no memory for a ledger\n");
        abort();
    }
    *header() = (struct ledger_header){.created_ns = created_ns, .pid = (uint32_t)getpid()};
    atomic_store(&header()->used_bytes, (sizeof(struct ledger_header) + 63) & ~63ull);
    memcpy(header()->magic, LEDGER_MAGIC, sizeof(header()->magic));
}

/* A zeroed block, or NULL when the arena is full. Under the lock. */
static void *arena_take(uint64_t bytes)
{
    uint64_t offset = atomic_load(&header()->used_bytes);
    uint64_t used_bytes = (offset + bytes + 63) & ~63ull;
    if (!back(used_bytes)) {
        return NULL;
    }
    atomic_store(&header()->used_bytes, used_bytes);
    return arena.base + offset;
}

/* --- a thread's shard ---------------------------------------------------------------------------------- */

static struct ledger_thread *thread_adopt(void)
{
    struct ledger_thread *ledger = arena.free_threads;
    if (ledger) {
        arena.free_threads = ledger->next_free;
        return ledger;
    }
    if (!arena.base) {
        arena_open();
    }
    struct ledger_shard *shard = arena_take(sizeof(*shard));
    ledger = calloc(1, sizeof(*ledger));
    if (!shard || !ledger) {
        free(ledger);
        return NULL;
    }
    ledger->shard = shard;
    shard->next = atomic_load(&header()->first_shard);
    atomic_store(&header()->first_shard, offset_of(shard));
    return ledger;
}

static struct ledger_thread *ledger_thread(void)
{
    struct thread_state *thread = thread_current();
    if (thread && !thread->ledger) {
        pthread_mutex_lock(&arena.lock);
        thread->ledger = thread_adopt();
        pthread_mutex_unlock(&arena.lock);
    }
    return thread ? thread->ledger : NULL;
}

void ledger_thread_ended(struct ledger_thread *ledger)
{
    if (ledger) {
        pthread_mutex_lock(&arena.lock);
        ledger->next_free = arena.free_threads;
        arena.free_threads = ledger;
        pthread_mutex_unlock(&arena.lock);
    }
}

/* --- counting ------------------------------------------------------------------------------------------ */

/* The thread is the only writer: a plain load and store suffice, readers see either value. */
static inline void add(_Atomic uint64_t *counter, uint64_t amount)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + amount, memory_order_relaxed);
}

void ledger_count_call(int call)
{
    struct ledger_thread *ledger = ledger_thread();
    if (ledger) {
        add(&ledger->shard->calls[call], 1);
    }
}

static unsigned hash(const struct ledger_launch *key)
{
    uint64_t words[LEDGER_KEY_BYTES / 8];
    memcpy(words, key, sizeof(words));
    uint64_t sum = 0;
    for (unsigned i = 0; i < LEDGER_KEY_BYTES / 8; i++) {
        sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    return (unsigned)sum;
}

static bool same(const struct ledger_launch *a, const struct ledger_launch *b)
{
    return memcmp(a, b, LEDGER_KEY_BYTES) == 0;
}

static struct ledger_launch **slot_of(struct ledger_launch **table, unsigned capacity,
                                      const struct ledger_launch *key)
{
    unsigned index = hash(key) & (capacity - 1);
    while (table[index] && !same(table[index], key)) {
        index = (index + 1) & (capacity - 1);
    }
    return &table[index];
}

static bool table_grow(struct ledger_thread *ledger)
{
    if (ledger->filled * 2 < ledger->capacity) {
        return true;
    }
    unsigned capacity = ledger->capacity ? ledger->capacity * 2 : HASH_LEAST;
    struct ledger_launch **table = calloc(capacity, sizeof(struct ledger_launch *));
    if (!table) {
        return false;
    }
    for (unsigned i = 0; i < ledger->capacity; i++) {
        if (ledger->table[i]) {
            *slot_of(table, capacity, ledger->table[i]) = ledger->table[i];
        }
    }
    free(ledger->table);
    ledger->table = table;
    ledger->capacity = capacity;
    return true;
}

static bool page_renew(struct ledger_thread *ledger)
{
    pthread_mutex_lock(&arena.lock);
    struct ledger_page *page = arena_take(sizeof(*page));
    pthread_mutex_unlock(&arena.lock);
    if (page) {
        page->next = atomic_load(&ledger->shard->first_page);
        atomic_store(&ledger->shard->first_page, offset_of(page));
        ledger->page = page;
    }
    return page != NULL;
}

static struct ledger_launch *record_make(struct ledger_thread *ledger, const struct ledger_launch *key)
{
    struct ledger_page *page = ledger->page;
    unsigned used = page ? atomic_load_explicit(&page->used, memory_order_relaxed) : LEDGER_PAGE_COUNT;
    if (used == LEDGER_PAGE_COUNT) {
        if (!page_renew(ledger)) {
            return NULL;
        }
        page = ledger->page;
        used = 0;
    }
    struct ledger_launch *record = &page->launches[used];
    memcpy(record, key, LEDGER_KEY_BYTES);
    atomic_store_explicit(&page->used, used + 1, memory_order_release);
    return record;
}

static struct ledger_launch *record_find(struct ledger_thread *ledger, const struct ledger_launch *key)
{
    if (!table_grow(ledger)) {
        return NULL;
    }
    struct ledger_launch **slot = slot_of(ledger->table, ledger->capacity, key);
    if (!*slot && (*slot = record_make(ledger, key))) {
        ledger->filled++;
    }
    return *slot;
}

static char **name_slot(char **names, unsigned capacity, const char *name)
{
    uint64_t sum = 14695981039346656037u; /* FNV-1a */
    for (const char *p = name; *p; p++) {
        sum = (sum ^ (unsigned char)*p) * 1099511628211u;
    }
    unsigned index = (unsigned)(sum ^ sum >> 32) & (capacity - 1);
    while (names[index] && strcmp(names[index], name) != 0) {
        index = (index + 1) & (capacity - 1);
    }
    return &names[index];
}

static bool names_grow(void)
{
    if (arena.name_count * 2 < arena.name_capacity) {
        return true;
    }
    unsigned capacity = arena.name_capacity ? arena.name_capacity * 2 : HASH_LEAST;
    char **names = calloc(capacity, sizeof *names);
    if (!names) {
        return false;
    }
    for (unsigned i = 0; i < arena.name_capacity; i++) {
        if (arena.names[i]) {
            *name_slot(names, capacity, arena.names[i]) = arena.names[i];
        }
    }
    free(arena.names);
    arena.names = names;
    arena.name_capacity = capacity;
    return true;
}

/* The one copy of a name in the arena; NULL when it is full. Under the lock. */
static const char *name_take(const char *name)
{
    if (!names_grow()) {
        return NULL;
    }
    char **slot = name_slot(arena.names, arena.name_capacity, name);
    if (!*slot && (*slot = arena_take(strlen(name) + 1))) {
        strcpy(*slot, name);
        arena.name_count++;
    }
    return *slot;
}

/* The name's offset in the arena: 0 only when the arena is full. */
static uint64_t name_offset(struct CUfunc_st *function)
{
    uint64_t offset = atomic_load_explicit(&function->ledger_name, memory_order_relaxed);
    if (offset) {
        return offset;
    }
    pthread_mutex_lock(&arena.lock);
    const char *name = name_take(function->code->name);
    offset = name ? offset_of(name) : 0;
    atomic_store(&function->ledger_name, offset);
    pthread_mutex_unlock(&arena.lock);
    return offset;
}

void ledger_count_launch(const struct launch_request *request, uint64_t times, bool replayed)
{
    struct ledger_thread *ledger = ledger_thread();
    struct ledger_launch key = {
        .device = (uint32_t)request->function->context->device->ordinal,
        .grid = {request->grid[0], request->grid[1], request->grid[2]},
        .block = {request->block[0], request->block[1], request->block[2]},
        .cluster = {request->cluster[0], request->cluster[1], request->cluster[2]},
        .dynamic_shared_bytes = request->dynamic_shared_bytes,
    };
    key.function = ledger ? name_offset(request->function) : 0;
    struct ledger_launch *record = NULL;
    if (key.function) {
        record = ledger->last && same(ledger->last, &key) ? ledger->last : record_find(ledger, &key);
    }
    if (!record) {
        atomic_fetch_add(&header()->lost, times);
        return;
    }
    ledger->last = record;
    add(&record->count, times);
    if (replayed) {
        add(&record->graph_count, times);
    }
    struct observed_launch observed = {.function = request->function->code->name,
                                       .grid = {request->grid[0], request->grid[1], request->grid[2]},
                                       .block = {request->block[0], request->block[1], request->block[2]},
                                       .dynamic_shared_bytes = request->dynamic_shared_bytes};
    observer_tell(&observed, times);
}

/* --- faults -------------------------------------------------------------------------------------------- */

static bool fault_known(const char *text)
{
    uint64_t offset = atomic_load(&header()->first_fault);
    while (offset) {
        const struct ledger_fault *fault = (const struct ledger_fault *)(arena.base + offset);
        if (strcmp(fault->text, text) == 0) {
            return true;
        }
        offset = fault->next;
    }
    return false;
}

static void fault_note(const char *text)
{
    if (fault_known(text) || atomic_fetch_add(&header()->faults, 1) >= LEDGER_FAULT_LIMIT) {
        return;
    }
    size_t bytes = strlen(text) + 1;
    struct ledger_fault *fault = arena_take(sizeof(*fault) + bytes);
    if (fault) {
        memcpy(fault->text, text, bytes);
        fault->next = atomic_load(&header()->first_fault);
        atomic_store(&header()->first_fault, offset_of(fault));
    }
}

void ledger_fault(const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!ledger_thread()) {
        return;
    }
    pthread_mutex_lock(&arena.lock);
    fault_note(text);
    pthread_mutex_unlock(&arena.lock);
}

/* --- fork: the child starts a ledger of its own -------------------------------------------------------- */

void ledger_before_fork(void)
{
    pthread_mutex_lock(&arena.lock);
}

void ledger_after_fork_parent(void)
{
    pthread_mutex_unlock(&arena.lock);
}

void ledger_after_fork_child(void)
{
    if (arena.base) {
        munmap(arena.base, arena.size_bytes);
    }
    if (arena.file >= 0) {
        close(arena.file);
    }
    arena.base = NULL;
    arena.file = -1;
    arena.backed_bytes = 0;
    arena.free_threads = NULL;
    free(arena.names);
    arena.names = NULL;
    arena.name_capacity = arena.name_count = 0;
    pthread_mutex_unlock(&arena.lock);
}
