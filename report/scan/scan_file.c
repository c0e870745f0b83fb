/* One file from its regions to the table of its kernels. */
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers.h"
#include "jobs.h"
#include "report/cli.h"
#include "report/names/visible.h"
#include "select.h"

const char *const scan_origin_names[] = {"linked", "pre-link", "cubin", "ptx"};

struct scan {
    const struct scan_options *options;
    struct scan_file *file;
    struct file_reader reader;
    struct scan_pool *pool;
    uint32_t next_container;
    uint64_t queued_bytes;
    bool no_memory;
};

static void add_undecodable(struct scan *scan, uint64_t offset, const char *reason)
{
    struct scan_file *file = scan->file;
    struct scan_undecodable *grown =
        realloc(file->undecodable, (file->undecodable_count + 1) * sizeof *grown);
    if (!grown) {
        scan->no_memory = true;
        return;
    }
    file->undecodable = grown;
    file->undecodable[file->undecodable_count++] = (struct scan_undecodable){offset, reason};
}

static void on_fault(void *context, uint64_t offset, enum cubin_status status)
{
    add_undecodable(context, offset, cubin_status_text(status));
}

static void queue(struct scan *scan, const struct scan_job *job)
{
    scan->queued_bytes += job->entry.payload_bytes;
    if (!scan_pool_add(scan->pool, job)) {
        scan->no_memory = true;
    }
}

static void queue_bare(struct scan *scan, uint16_t kind, uint64_t offset, uint64_t bytes)
{
    struct scan_job job = {
        .payload_offset = offset,
        .entry = {.kind = kind, .payload_bytes = bytes, .uncompressed_bytes = bytes},
        .container = scan->next_container++,
        .bare = true,
    };
    queue(scan, &job);
}

static void on_cubin(void *context, uint64_t offset, uint64_t bytes)
{
    struct scan *scan = context;
    scan->file->counts.cubins++;
    queue_bare(scan, FATBIN_ELF, offset, bytes);
}

static void count_entries(struct scan *scan, const struct container *container, const bool *chosen)
{
    struct scan_counts *counts = &scan->file->counts;
    uint32_t cubins = 0, ptx = 0, lto = 0;
    for (size_t i = 0; i < container->count; i++) {
        uint16_t kind = container->entries[i].kind;
        cubins += kind == FATBIN_ELF;
        ptx += kind == FATBIN_PTX;
        lto += kind == FATBIN_LTO;
        counts->skipped += kind == FATBIN_ELF && !chosen[i];
        if (kind != FATBIN_ELF && kind != FATBIN_PTX && kind != FATBIN_LTO) {
            add_undecodable(scan, container->offsets[i], "an entry of unknown kind");
        }
    }
    counts->containers++;
    counts->cubins += cubins;
    counts->ptx += ptx;
    counts->lto += lto;
    counts->ptx_only += cubins == 0 && ptx > 0;
    counts->lto_only += cubins == 0 && ptx == 0 && lto > 0;
}

static void on_container(void *context, const struct container *container)
{
    struct scan *scan = context;
    bool *chosen = calloc(container->count + 1, sizeof *chosen);
    if (!chosen) {
        scan->no_memory = true;
        return;
    }
    scan_select(scan->options, container->entries, container->count, chosen);
    count_entries(scan, container, chosen);
    for (size_t i = 0; i < container->count; i++) {
        if (chosen[i]) {
            struct scan_job job = {
                .payload_offset = container->offsets[i] + container->entries[i].header_bytes,
                .entry = container->entries[i],
                .container = container->index,
            };
            queue(scan, &job);
        }
    }
    free(chosen);
}

static void on_region(const struct host_region *region, void *context)
{
    struct scan *scan = context;
    struct container_sink sink = {on_container, on_cubin, on_fault, scan};
    if (region->kind == REGION_PTX) {
        scan->file->counts.ptx++;
        scan->file->counts.ptx_only++;
        queue_bare(scan, FATBIN_PTX, region->offset, region->bytes);
    } else if (!containers_find(&scan->reader, region, &scan->next_container, &sink)) {
        scan->no_memory = true;
    }
}

/* One line of a terminal, whatever the file is called. */
static void on_tick(void *context, uint64_t finished)
{
    struct scan *scan = context;
    if (scan->options->progress) {
        const char *slash = strrchr(scan->file->path, '/');
        char doing[64], *name = visible(slash ? slash + 1 : scan->file->path);
        snprintf(doing, sizeof doing, "%.50s: MB", name ? name : "");
        free(name);
        cli_progress(doing, finished >> 20, scan->queued_bytes >> 20);
    }
}

/* In file order, whatever order the workers finished in. */
static void gather(struct scan *scan)
{
    struct scan_file *file = scan->file;
    size_t total = 0;
    for (size_t i = 0; i < scan_pool_count(scan->pool); i++) {
        total += scan_pool_job(scan->pool, i)->kernels_count;
    }
    file->kernels = malloc((total + 1) * sizeof *file->kernels);
    if (!file->kernels) {
        scan->no_memory = true;
        return;
    }
    for (size_t i = 0; i < scan_pool_count(scan->pool); i++) {
        struct scan_job *job = scan_pool_job(scan->pool, i);
        if (job->kernels_count) {
            memcpy(file->kernels + file->kernels_count, job->kernels,
                   job->kernels_count * sizeof *job->kernels);
        }
        file->kernels_count += job->kernels_count;
        free(job->kernels);
        job->kernels = NULL;
        job->kernels_count = 0; /* the names have moved */
        file->counts.skipped += job->skipped && job->entry.kind == FATBIN_ELF;
        if (job->status != CUBIN_OK) {
            add_undecodable(scan, job->payload_offset, cubin_status_text(job->status));
        }
    }
}

static int by_offset(const void *left, const void *right)
{
    const struct scan_undecodable *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Compressed files hold the headers of containers now and then, never what belongs to them. */
static bool found_nothing(const struct scan_file *file)
{
    return scan_is_empty(file) || (file->kernels_count == 0 && file->undecodable_count > 0);
}

static const char *read_regions(struct scan *scan)
{
    const char *why = host_file_regions(&scan->reader, on_region, scan);
    scan_pool_finish(scan->pool, on_tick, scan);
    if (scan->options->progress) {
        cli_progress_end();
    }
    gather(scan);
    if (scan->file->undecodable_count) {
        qsort(scan->file->undecodable, scan->file->undecodable_count, sizeof *scan->file->undecodable,
              by_offset);
    }
    if (scan->no_memory) {
        return "out of memory";
    }
    if (!why && scan->reader.failed) {
        return "it was cut while it was read";
    }
    return !why && found_nothing(scan->file) && host_file_is_packed(&scan->reader)
               ? "it is compressed: unpack it first"
               : why;
}

bool scan_is_empty(const struct scan_file *file)
{
    const struct scan_counts *counts = &file->counts;
    return counts->cubins + counts->ptx + counts->lto == 0 && file->undecodable_count == 0;
}

const char *scan_file_read(const char *path, const struct scan_options *options, struct scan_file *file)
{
    *file = (struct scan_file){.path = strdup(path)};
    struct scan scan = {.options = options, .file = file};
    const char *why = file->path ? file_reader_open(&scan.reader, path) : "out of memory";
    if (!why) {
        scan.pool = scan_pool_open(scan.reader.fd, options);
        why = scan.pool ? read_regions(&scan) : "out of memory";
    }
    if (scan.pool) {
        scan_pool_free(scan.pool);
    }
    file_reader_close(&scan.reader);
    return why;
}

void scan_file_free(struct scan_file *file)
{
    for (size_t i = 0; i < file->kernels_count; i++) {
        free(file->kernels[i].mangled);
    }
    free(file->kernels);
    free(file->undecodable);
    free(file->path);
    *file = (struct scan_file){0};
}
