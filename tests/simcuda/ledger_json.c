/* A ledger file becomes JSON: equal launches of several threads and of reloaded modules are one row. */
#include "ledger_json.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const call_names[LEDGER_CALLS] = {
#define EXPORT(symbol, name, version, default_stream) #symbol,
#include "exports.def"
#undef EXPORT
};

/* --- the file ------------------------------------------------------------------------------------------ */

bool ledger_open(struct ledger *ledger)
{
    int file = open(ledger->path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0 || status.st_size < (off_t)sizeof(struct ledger_header)) {
        if (file >= 0) {
            close(file);
        }
        return false;
    }
    ledger->bytes = (size_t)status.st_size;
    void *base = mmap(NULL, ledger->bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    if (base == MAP_FAILED) {
        return false;
    }
    ledger->base = base;
    ledger->header = base;
    return memcmp(ledger->header->magic, LEDGER_MAGIC, sizeof(ledger->header->magic)) == 0;
}

void ledger_close(struct ledger *ledger)
{
    munmap((void *)ledger->base, ledger->bytes);
}

/* --- rows ---------------------------------------------------------------------------------------------- */

struct row {
    const char *function;
    struct ledger_launch launch;
};

struct rows {
    struct row *rows;
    size_t count, capacity;
};

static const void *at(const struct ledger *ledger, uint64_t offset, size_t bytes)
{
    return offset && offset <= ledger->bytes && bytes <= ledger->bytes - offset ? ledger->base + offset
                                                                                : NULL;
}

static void rows_add(struct rows *rows, const struct ledger *ledger, const struct ledger_launch *launch)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? rows->capacity * 2 : 256;
        rows->rows = realloc(rows->rows, rows->capacity * sizeof(*rows->rows));
        if (!rows->rows) {
            fprintf(stderr, "simrun: reading %s: out of memory\n", ledger->path);
            exit(1);
        }
    }
    const char *name = at(ledger, launch->function, 1);
    struct row *row = &rows->rows[rows->count++];
    row->function = name ? name : "";
    memcpy(&row->launch, launch, sizeof(*launch));
}

static struct rows rows_of(const struct ledger *ledger)
{
    struct rows rows = {0};
    const struct ledger_shard *shard = at(ledger, atomic_load(&ledger->header->first_shard), sizeof(*shard));
    for (; shard; shard = at(ledger, shard->next, sizeof(*shard))) {
        const struct ledger_page *page = at(ledger, atomic_load(&shard->first_page), sizeof(*page));
        for (; page; page = at(ledger, page->next, sizeof(*page))) {
            unsigned used = atomic_load(&page->used);
            for (unsigned i = 0; i < used && i < LEDGER_PAGE_COUNT; i++) {
                rows_add(&rows, ledger, &page->launches[i]);
            }
        }
    }
    return rows;
}

/* By function, then by the rest of the key but for the name's offset. */
static int compare(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    size_t skip = sizeof(a->launch.function);
    int order = strcmp(a->function, b->function);
    return order ? order
                 : memcmp((const char *)&a->launch + skip, (const char *)&b->launch + skip,
                          LEDGER_KEY_BYTES - skip);
}

static void rows_merge(struct rows *rows)
{
    if (rows->count == 0) {
        return;
    }
    qsort(rows->rows, rows->count, sizeof(*rows->rows), compare);
    size_t kept = 0;
    for (size_t i = 1; i < rows->count; i++) {
        struct row *last = &rows->rows[kept], *next = &rows->rows[i];
        if (compare(last, next) == 0) {
            last->launch.count += next->launch.count;
            last->launch.graph_count += next->launch.graph_count;
        } else {
            rows->rows[++kept] = *next;
        }
    }
    rows->count = kept + 1;
}

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (*c < 0x20) {
            fprintf(out, "\\u%04x", *c);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

static void print_shape(FILE *out, const char *name, const uint32_t *shape)
{
    fprintf(out, ", \"%s\": [%u, %u, %u]", name, shape[0], shape[1], shape[2]);
}

static void print_launch(FILE *out, const struct row *row)
{
    const struct ledger_launch *launch = &row->launch;
    fputs("{\"function\": ", out);
    print_string(out, row->function);
    fprintf(out, ", \"device\": %u", launch->device);
    print_shape(out, "grid", launch->grid);
    print_shape(out, "block", launch->block);
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1) {
        print_shape(out, "cluster", launch->cluster);
    } else {
        fputs(", \"cluster\": null", out);
    }
    fprintf(out, ", \"dynamic_shared_bytes\": %u, \"count\": %llu, \"graph_count\": %llu}",
            launch->dynamic_shared_bytes, (unsigned long long)launch->count,
            (unsigned long long)launch->graph_count);
}

static void print_launches(FILE *out, const struct ledger *ledger)
{
    struct rows rows = rows_of(ledger);
    rows_merge(&rows);
    const char *separator = "\n    ";
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].launch.count) {
            fputs(separator, out);
            print_launch(out, &rows.rows[i]);
            separator = ",\n    ";
        }
    }
    free(rows.rows);
}

static void print_calls(FILE *out, const struct ledger *ledger)
{
    uint64_t calls[LEDGER_CALLS] = {0};
    const struct ledger_shard *shard = at(ledger, atomic_load(&ledger->header->first_shard), sizeof(*shard));
    for (; shard; shard = at(ledger, shard->next, sizeof(*shard))) {
        for (int i = 0; i < LEDGER_CALLS; i++) {
            calls[i] += atomic_load(&shard->calls[i]);
        }
    }
    const char *separator = "\n    ";
    for (int i = 0; i < LEDGER_CALLS; i++) {
        if (calls[i]) {
            fprintf(out, "%s\"%s\": %llu", separator, call_names[i], (unsigned long long)calls[i]);
            separator = ",\n    ";
        }
    }
}

static void print_faults(FILE *out, const struct ledger *ledger)
{
    const char *separator = "\n    ";
    const struct ledger_fault *fault = at(ledger, atomic_load(&ledger->header->first_fault), sizeof(*fault));
    for (; fault; fault = at(ledger, fault->next, sizeof(*fault))) {
        fputs(separator, out);
        print_string(out, fault->text);
        separator = ",\n    ";
    }
    uint64_t lost = atomic_load(&ledger->header->lost);
    if (lost) {
        fprintf(out, "%s\"the ledger was full: %llu launches are missing\"", separator,
                (unsigned long long)lost);
    }
}

bool ledger_write_json(const char *path, const struct ledger *ledger)
{
    FILE *out = fopen(path, "we");
    if (!out) {
        return false;
    }
    fputs("{\"launches\": [", out);
    if (ledger) {
        print_launches(out, ledger);
    }
    fputs("],\n \"calls\": {", out);
    if (ledger) {
        print_calls(out, ledger);
    }
    fputs("},\n \"faults\": [", out);
    if (ledger) {
        print_faults(out, ledger);
    }
    fputs("]}\n", out);
    bool written = !ferror(out);
    return fclose(out) == 0 && written;
}
