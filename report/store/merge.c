/* The merged data and how one store gets into it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "incoming.h"
#include "store.h"

struct merged *merged_new(void)
{
    struct merged *merged = calloc(1, sizeof *merged);
    struct merge *merge = calloc(1, sizeof *merge);
    if (!merged || !merge) {
        free(merged);
        free(merge);
        return NULL;
    }
    table_open(&merge->devices);
    table_open(&merge->kernels);
    table_open(&merge->configurations);
    merged->merge = merge;
    return merged;
}

void merged_free(struct merged *merged)
{
    if (!merged) {
        return;
    }
    table_free(&merged->merge->devices);
    table_free(&merged->merge->kernels);
    table_free(&merged->merge->configurations);
    arena_free(&merged->merge->arena);
    liveness_free(&merged->merge->liveness);
    free(merged->merge->last_share);
    free(merged->merge);
    free(merged->processes);
    free(merged->devices);
    free(merged->hosts);
    free(merged->kernels);
    free(merged->configurations);
    free(merged->shares);
    free(merged->odd_ranks);
    free(merged->findings);
    free(merged);
}

void *merged_allocate(struct merged *merged, size_t bytes)
{
    return arena_allocate(&merged->merge->arena, bytes);
}

const char *merged_print(struct merged *merged, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_print(&merged->merge->arena, format, arguments);
    va_end(arguments);
    return text;
}

static bool incoming_read(struct incoming *in)
{
    struct store_file *file = in->file;
    return store_file_records(file, STORE_SHARDS, &in->shards) &&
           store_file_records(file, STORE_COUNTERS, &in->counters) &&
           store_file_records(file, STORE_MEASUREMENTS, &in->measurements) &&
           store_file_records(file, STORE_BODIES, &in->bodies) &&
           store_file_records(file, STORE_NODES, &in->nodes) &&
           store_file_records(file, STORE_CONFIGURATIONS, &in->configurations) &&
           store_file_records(file, STORE_KERNELS, &in->kernels) &&
           store_file_records(file, STORE_DEVICES, &in->devices);
}

static void incoming_free(struct incoming *in)
{
    struct store_records *records[] = {&in->counters, &in->bodies,         &in->nodes,   &in->measurements,
                                       &in->shards,   &in->configurations, &in->kernels, &in->devices};
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        store_records_free(records[i]);
    }
    free(in->devices_to);
    free(in->kernels_to);
    free(in->configurations_to);
    free(in->counts);
    free(in->replays);
}

static bool incoming_allocate(struct incoming *in)
{
    uint32_t targets = in->bodies.count > in->nodes.count ? in->bodies.count : in->nodes.count;
    in->devices_to = calloc((size_t)in->devices.count + 1, sizeof *in->devices_to);
    in->kernels_to = calloc((size_t)in->kernels.count + 1, sizeof *in->kernels_to);
    in->configurations_to = calloc((size_t)in->configurations.count + 1, sizeof *in->configurations_to);
    in->counts = calloc((size_t)in->configurations.count + 1, sizeof *in->counts);
    in->replays = calloc((size_t)targets + 1, sizeof *in->replays);
    return in->devices_to && in->kernels_to && in->configurations_to && in->counts && in->replays;
}

static bool process_new(struct incoming *in, const char *path)
{
    struct merged *merged = in->merged;
    if (!merge_reserve((void **)&merged->processes, &merged->merge->processes_capacity,
                       merged->processes_count, sizeof *merged->processes)) {
        return false;
    }
    in->process = merged->processes_count;
    return process_describe(merged, &merged->processes[in->process], in->file, path);
}

/* What could be counted but not told apart is lost, not silently dropped. */
static void process_close(struct incoming *in)
{
    struct merged_process *process = incoming_process(in);
    process->lost = merge_sum(process->lost, in->unreadable);
    if (in->unreadable) {
        store_file_note(in->file, "%" PRIu64 " launches of what could not be read", in->unreadable);
    }
    if (process->state != PROCESS_RUNNING) {
        store_file_complete(in->file);
    }
    if (in->file->damages > 1) {
        process->damage =
            merged_print(in->merged, "%s (and %u more)", in->file->damage, in->file->damages - 1);
    } else if (in->file->damages == 1) {
        process->damage = merged_print(in->merged, "%s", in->file->damage);
    }
    in->merged->damaged += process->damage != NULL;
}

bool merged_add_store(struct merged *merged, const char *path, char reason[STORE_REASON_BYTES])
{
    struct store_file file;
    struct incoming in = {.merged = merged, .file = &file};
    if (!store_file_open(&file, path, reason)) {
        return false;
    }
    bool held = process_new(&in, path) && incoming_read(&in) && incoming_allocate(&in) &&
                incoming_describe(&in) && incoming_count(&in) && incoming_streams(&in);
    if (held) {
        merged->processes_count++;
        process_close(&in);
    } else {
        snprintf(reason, STORE_REASON_BYTES, "out of memory");
    }
    incoming_free(&in);
    store_file_close(&file);
    return held;
}
