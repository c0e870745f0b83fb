/* One container entry: read, unpacked, its kernels copied. */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "file_reader.h"
#include "report/names/demangle.h"
#include "select.h"

/* Page faults of 4 KB took half as much time as the unpacking of a library with large entries; a huge page
 * for a small file takes more than its reading. */
#define HUGE_FROM_BYTES (256u << 10)

struct collector {
    struct scan_job *job;
    const struct scan_options *options;
    bool failed;
};

static void buffer_free(struct scan_buffer *buffer)
{
    if (buffer->at) {
        munmap(buffer->at, buffer->capacity);
    }
    *buffer = (struct scan_buffer){0};
}

/* Mapped, not from the heap: there the names of kernels would keep it from shrinking. */
static unsigned char *buffer_reserve(struct scan_buffer *buffer, size_t bytes)
{
    if (bytes < buffer->capacity) {
        return buffer->at;
    }
    buffer_free(buffer);
    size_t capacity = bytes + bytes / 4 + 1;
    void *at = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    if (capacity >= HUGE_FROM_BYTES) {
        madvise(at, capacity, MADV_HUGEPAGE); /* refused where there are none */
    }
    *buffer = (struct scan_buffer){at, capacity};
    return buffer->at;
}

static void buffer_trim(struct scan_buffer *buffer, size_t kept_bytes)
{
    if (buffer->capacity > kept_bytes) {
        buffer_free(buffer);
    }
}

static uint32_t product(const uint32_t triple[3])
{
    uint64_t threads = (uint64_t)triple[0] * triple[1];
    threads = threads > UINT32_MAX ? UINT32_MAX : threads * triple[2];
    return threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads;
}

static bool name_matches(const char *mangled, const regex_t *wanted)
{
    if (!wanted || regexec(wanted, mangled, 0, NULL, 0) == 0) {
        return true;
    }
    char *full = demangle_full(mangled);
    bool matches = full && regexec(wanted, full, 0, NULL, 0) == 0;
    free(full);
    return matches;
}

static enum scan_origin origin_of(const struct scan_job *job)
{
    if (job->entry.kind == FATBIN_PTX) {
        return ORIGIN_PTX;
    }
    if (job->bare) {
        return ORIGIN_CUBIN;
    }
    return job->info.relocatable ? ORIGIN_PRELINK : ORIGIN_LINKED;
}

static struct scan_kernel *new_kernel(struct scan_job *job)
{
    if (job->kernels_count == job->kernels_capacity) {
        size_t capacity = job->kernels_capacity ? 2 * job->kernels_capacity : 4;
        struct scan_kernel *grown = realloc(job->kernels, capacity * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        job->kernels = grown;
        job->kernels_capacity = capacity;
    }
    return &job->kernels[job->kernels_count];
}

static bool collect_kernel(const struct cubin_kernel *found, void *context)
{
    struct collector *collector = context;
    struct scan_job *job = collector->job;
    if (!name_matches(found->name, collector->options->kernel)) {
        return true;
    }
    struct scan_kernel *kernel = new_kernel(job);
    char *mangled = strdup(found->name);
    if (!kernel || !mangled) {
        free(mangled);
        collector->failed = true;
        return false;
    }
    *kernel = (struct scan_kernel){
        .mangled = mangled,
        .valid = found->valid,
        .registers_per_thread = found->registers_per_thread,
        .static_shared_bytes = found->static_shared_bytes,
        .stack_bytes = found->stack_bytes,
        .cumulative_stack_bytes = found->min_stack_bytes,
        .barriers = found->barriers,
        .max_threads_per_block = product(found->max_threads),
        .parameter_bytes = found->parameter_bytes,
        .constant_bytes = found->constant_bytes,
        .sm = job->entry.sm,
        .variant = job->entry.variant,
        .origin = (uint8_t)origin_of(job),
        .container = job->container,
        .entry = job->entry.index,
    };
    memcpy(kernel->required_block, found->required_block, sizeof kernel->required_block);
    memcpy(kernel->cluster, found->cluster, sizeof kernel->cluster);
    job->kernels_count++;
    return true;
}

/* A bare file names its architecture inside. */
static enum cubin_status read_image(struct collector *collector, const void *image)
{
    struct scan_job *job = collector->job;
    size_t bytes = job->entry.uncompressed_bytes;
    bool ptx = job->entry.kind == FATBIN_PTX;
    if (job->bare) {
        enum cubin_status status = ptx ? ptx_read(image, bytes, &job->info, NULL, NULL)
                                       : cubin_read(image, bytes, &job->info, NULL, NULL);
        job->entry.sm = job->info.sm;
        job->entry.variant = job->info.variant;
        job->skipped = !scan_wants(collector->options, job->info.sm, job->info.variant, ptx);
        if (status != CUBIN_OK || job->skipped) {
            return status;
        }
    }
    return ptx ? ptx_read(image, bytes, NULL, collect_kernel, collector)
               : cubin_read(image, bytes, &job->info, collect_kernel, collector);
}

static enum cubin_status unpack_and_read(struct collector *collector, struct scan_worker *worker)
{
    struct fatbin_entry *entry = &collector->job->entry;
    if (entry->codec == FATBIN_RAW) {
        return read_image(collector, worker->stored.at);
    }
    entry->payload = worker->stored.at;
    enum cubin_status status = fatbin_check_sizes(entry);
    if (status == CUBIN_OK && !buffer_reserve(&worker->image, entry->uncompressed_bytes)) {
        status = CUBIN_NO_MEMORY;
    }
    if (status == CUBIN_OK) {
        status = fatbin_decode_next(&worker->decoder, entry, worker->image.at);
    }
    entry->payload = NULL;
    return status == CUBIN_OK ? read_image(collector, worker->image.at) : status;
}

static enum cubin_status run(struct collector *collector, struct scan_worker *worker)
{
    struct scan_job *job = collector->job;
    if (job->entry.obfuscated) {
        return CUBIN_UNSUPPORTED;
    }
    if (job->entry.payload_bytes > FATBIN_ENTRY_LIMIT_BYTES) {
        return CUBIN_MALFORMED;
    }
    if (!buffer_reserve(&worker->stored, job->entry.payload_bytes)) {
        return CUBIN_NO_MEMORY;
    }
    if (!file_read_range(worker->fd, worker->stored.at, job->entry.payload_bytes, job->payload_offset)) {
        return CUBIN_TRUNCATED;
    }
    return unpack_and_read(collector, worker);
}

void scan_job_run(struct scan_job *job, struct scan_worker *worker)
{
    struct collector collector = {.job = job, .options = worker->options};
    job->status = run(&collector, worker);
    if (collector.failed) {
        job->status = CUBIN_NO_MEMORY;
    }
    buffer_trim(&worker->stored, worker->kept_bytes);
    buffer_trim(&worker->image, worker->kept_bytes);
}

void scan_worker_free(struct scan_worker *worker)
{
    buffer_free(&worker->stored);
    buffer_free(&worker->image);
    fatbin_decoder_free(&worker->decoder);
}
