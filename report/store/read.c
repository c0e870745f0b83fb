/* Reads one store file without trusting it: header, chain of extents, records, strings. */
#include "read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that claims more records of one kind than this is not one of ours, or would not fit in memory. */
#define KIND_LIMIT_BYTES    (1ull << 30)
#define EXTENT_LIMIT        (1u << 20)
#define STRING_LIMIT_BYTES  (1u << 20)
#define KNOWN_FEATURES_MASK 0xffffffffull

static const char *const kind_names[STORE_KINDS] = {
    [STORE_STRINGS] = "strings",
    [STORE_DEVICES] = "devices",
    [STORE_KERNELS] = "kernels",
    [STORE_CONFIGURATIONS] = "configurations",
    [STORE_SHARDS] = "shards",
    [STORE_COUNTERS] = "counters",
    [STORE_BODIES] = "graph bodies",
    [STORE_NODES] = "graph nodes",
    [STORE_MEASUREMENTS] = "measurements",
    [STORE_TRACE] = "trace records",
    [STORE_STREAMS] = "streams",
};

void store_file_note(struct store_file *file, const char *format, ...)
{
    if (file->damages++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(file->damage, sizeof file->damage, format, arguments);
        va_end(arguments);
    }
}

/* How many of the wanted bytes the file holds: fewer at its end or on an error. */
static size_t read_at(const struct store_file *file, void *buffer, size_t bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(file->fd, (char *)buffer + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    return done;
}

/* Between making the file and writing its header. */
static const char still_empty[] = "nothing in it: its process ended, or still is, in its first launch";

/* Space is allocated before the header is written. */
static bool is_unwritten(const struct store_header *header)
{
    static const struct store_header nothing;
    return memcmp(header, &nothing, sizeof nothing) == 0;
}

static bool header_acceptable(struct store_file *file, char reason[STORE_REASON_BYTES])
{
    const struct store_header *header = &file->header;
    const uint64_t known = STORE_FEATURE_TIMES;
    if (is_unwritten(header)) {
        snprintf(reason, STORE_REASON_BYTES, "%s", still_empty);
        return false;
    }
    if (memcmp(header->magic, STORE_MAGIC, sizeof header->magic) != 0) {
        snprintf(reason, STORE_REASON_BYTES, "not a warpwatch store");
        return false;
    }
    if (header->version != STORE_VERSION) {
        snprintf(reason, STORE_REASON_BYTES, "store version %u, this warpwatch reads version %u",
                 header->version, STORE_VERSION);
        return false;
    }
    file->header_intact = header->check == store_check(header, offsetof(struct store_header, check));
    if (file->header_intact && (header->features & KNOWN_FEATURES_MASK & ~known)) {
        snprintf(reason, STORE_REASON_BYTES, "written by a newer warpwatch (feature bits %#llx)",
                 (unsigned long long)(header->features & KNOWN_FEATURES_MASK & ~known));
        return false;
    }
    return true;
}

/* Opening alone does something to a pipe or a device. O_NONBLOCK: it may have become one. */
static int open_regular(const char *path, struct stat *status)
{
    if (stat(path, status) == 0 && !S_ISREG(status->st_mode)) {
        return -1;
    }
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool store_file_open(struct store_file *file, const char *path, char reason[STORE_REASON_BYTES])
{
    struct stat status = {0};
    *file = (struct store_file){.end_offset = STORE_BLOCK_BYTES, .fd = open_regular(path, &status)};
    bool opened = file->fd >= 0 && fstat(file->fd, &status) == 0;
    if (status.st_mode && !S_ISREG(status.st_mode)) {
        snprintf(reason, STORE_REASON_BYTES, "not a regular file");
    } else if (!opened) {
        snprintf(reason, STORE_REASON_BYTES, "%s", strerror(errno));
    } else if (status.st_size == 0) {
        snprintf(reason, STORE_REASON_BYTES, "%s", still_empty);
    } else if (read_at(file, &file->header, sizeof file->header, 0) < sizeof file->header) {
        snprintf(reason, STORE_REASON_BYTES, "%s",
                 status.st_size < (off_t)sizeof file->header ? "not a warpwatch store: too short"
                                                             : strerror(errno));
    } else if (header_acceptable(file, reason)) {
        file->size_bytes = (uint64_t)status.st_size;
        if (!file->header_intact) {
            store_file_note(file, "its header is damaged: host, process and times are not known");
        }
        return true;
    }
    store_file_close(file);
    return false;
}

void store_file_close(struct store_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
    }
    free(file->extents);
    file->fd = -1;
    file->extents = NULL;
}

bool store_file_locked(const struct store_file *file)
{
    if (flock(file->fd, LOCK_SH | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK;
    }
    flock(file->fd, LOCK_UN);
    return false;
}

static bool extent_plausible(const struct store_extent *extent)
{
    uint32_t known_bytes = store_record_bytes(extent->kind);
    return extent->magic == STORE_EXTENT_MAGIC && extent->bytes >= STORE_BLOCK_BYTES &&
           extent->bytes % STORE_BLOCK_BYTES == 0 && extent->record_bytes > 0 &&
           (uint64_t)extent->capacity * extent->record_bytes <= extent->bytes - sizeof *extent &&
           extent->record_bytes >= known_bytes;
}

static bool extent_append(struct store_file *file, const struct store_extent *extent)
{
    if (file->extents_count == file->extents_capacity) {
        uint32_t capacity = file->extents_capacity ? 2 * file->extents_capacity : 32;
        void *grown = realloc(file->extents, capacity * sizeof *file->extents);
        if (!grown) {
            return false;
        }
        file->extents = grown;
        file->extents_capacity = capacity;
    }
    file->extents[file->extents_count++] = (struct store_extent_place){
        .records_offset = file->end_offset + sizeof *extent,
        .kind = extent->kind,
        .record_bytes = extent->record_bytes,
        .capacity = extent->capacity,
        .owner = extent->owner,
    };
    return true;
}

/* Follows the chain from where the last walk ended: a live file has grown since. A broken link ends it for
 * good: record indices count over the extents, so nothing behind a lost one can be told by its index. */
static bool extents_follow(struct store_file *file)
{
    while (!file->chain_broken) {
        struct store_extent extent;
        if (read_at(file, &extent, sizeof extent, file->end_offset) < sizeof extent || extent.magic == 0) {
            return true;
        }
        if (!extent_plausible(&extent) || file->extents_count >= EXTENT_LIMIT ||
            file->end_offset + extent.bytes < file->end_offset ||
            file->end_offset + extent.bytes > INT64_MAX) {
            file->chain_broken = true;
            store_file_note(file, "unreadable from byte %" PRIu64 " on", file->end_offset);
            return true;
        }
        if (!extent_append(file, &extent)) {
            return false;
        }
        file->end_offset += extent.bytes;
    }
    return true;
}

/* How many records of the extent are complete now. */
static uint32_t extent_used(struct store_file *file, const struct store_extent_place *place)
{
    uint32_t used = 0;
    uint64_t offset =
        place->records_offset - sizeof(struct store_extent) + offsetof(struct store_extent, used);
    read_at(file, &used, sizeof used, offset);
    if (used > place->capacity) {
        store_file_note(file, "%s claim more records than their extent holds", kind_names[place->kind]);
        used = place->capacity;
    }
    return used;
}

/* Reads `used` records of the extent to `out`, cut or padded to the size known here; returns how many there
 * were. */
static uint32_t extent_read(struct store_file *file, const struct store_extent_place *place, uint32_t used,
                            unsigned char *out)
{
    const uint32_t known_bytes = store_record_bytes(place->kind);
    if (place->record_bytes == known_bytes) {
        return (uint32_t)(read_at(file, out, (size_t)used * known_bytes, place->records_offset) /
                          known_bytes);
    }
    for (uint32_t i = 0; i < used; i++) { /* a later version appended fields */
        uint64_t offset = place->records_offset + (uint64_t)i * place->record_bytes;
        if (read_at(file, out + (size_t)i * known_bytes, known_bytes, offset) < known_bytes) {
            return i;
        }
    }
    return used;
}

static bool records_append(struct store_file *file, const struct store_extent_place *place,
                           struct store_records *out)
{
    const uint32_t known_bytes = store_record_bytes(place->kind);
    uint32_t used = extent_used(file, place);
    uint64_t whole = file->size_bytes > place->records_offset ? file->size_bytes - place->records_offset : 0;
    if (used > whole / place->record_bytes) {
        struct stat status; /* grown since it was opened? */
        file->size_bytes = fstat(file->fd, &status) == 0 ? (uint64_t)status.st_size : file->size_bytes;
        whole = file->size_bytes > place->records_offset ? file->size_bytes - place->records_offset : 0;
    }
    uint32_t present = used > whole / place->record_bytes ? (uint32_t)(whole / place->record_bytes) : used;
    uint64_t total = (uint64_t)out->count + present;
    if (total * known_bytes > KIND_LIMIT_BYTES) {
        store_file_note(file, "more than %llu MB of %s: the rest is not read", KIND_LIMIT_BYTES >> 20,
                        kind_names[place->kind]);
        return true;
    }
    void *records = realloc(out->records, (size_t)(total * known_bytes) + 1);
    out->records = records ? records : out->records;
    struct store_run *runs = realloc(out->runs, (out->runs_count + 1) * sizeof *runs);
    out->runs = runs ? runs : out->runs;
    if (!records || !runs) {
        return false;
    }
    uint32_t got =
        extent_read(file, place, present, (unsigned char *)records + (size_t)out->count * known_bytes);
    if (got < used) {
        file->chain_broken = true;
        store_file_note(file, "cut: %u of %u %s in its last extent are there", got, used,
                        kind_names[place->kind]);
    }
    out->runs[out->runs_count++] = (struct store_run){out->count, got, place->owner};
    out->count += got;
    return true;
}

bool store_file_records(struct store_file *file, enum store_kind kind, struct store_records *out)
{
    *out = (struct store_records){0};
    bool held = extents_follow(file);
    for (uint32_t i = 0; held && i < file->extents_count; i++) {
        if (file->extents[i].kind == (uint32_t)kind) {
            held = records_append(file, &file->extents[i], out);
        }
    }
    if (!held) {
        store_records_free(out);
    }
    return held;
}

void store_records_free(struct store_records *records)
{
    free(records->records);
    free(records->runs);
    *records = (struct store_records){0};
}

/* Extents are in file order, so the last one that begins at or before the string is the only candidate. */
static bool string_inside(struct store_file *file, struct store_string string)
{
    uint32_t low = 0, high = file->extents_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (file->extents[middle].records_offset <= string.offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0 || file->extents[low - 1].kind != STORE_STRINGS) {
        return false;
    }
    const struct store_extent_place *place = &file->extents[low - 1];
    uint64_t start = string.offset - place->records_offset;
    return start <= place->capacity && string.bytes <= place->capacity - start;
}

char *store_file_string(struct store_file *file, struct store_string string)
{
    if (string.bytes > STRING_LIMIT_BYTES || !extents_follow(file) || !string_inside(file, string)) {
        store_file_note(file, "a name lies outside its strings");
        return NULL;
    }
    char *text = malloc((size_t)string.bytes + 1);
    if (text && read_at(file, text, string.bytes, string.offset) < string.bytes) {
        store_file_note(file, "cut: a name is not there");
        free(text);
        return NULL;
    }
    if (text) {
        text[string.bytes] = '\0';
    }
    return text;
}

void store_file_complete(struct store_file *file)
{
    uint64_t end = file->end_offset < file->size_bytes ? file->end_offset : file->size_bytes;
    if (!file->chain_broken && end < file->header.file_bytes) {
        store_file_note(file, "cut: %" PRIu64 " of %" PRIu64 " bytes are there", end,
                        file->header.file_bytes);
    }
}
