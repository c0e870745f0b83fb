/* The process behind a store: what its header says, and whether it still runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "incoming.h"

const char *const process_state_names[] = {"running", "finished", "ended"};

/* Of another machine's process nothing better is known than what the store says. */
static enum process_state state_of(struct liveness *liveness, const struct store_file *file)
{
    const struct store_header *header = &file->header;
    if (header->state == STORE_FINISHED) {
        return PROCESS_FINISHED;
    }
    if (!file->header_intact) {
        return PROCESS_ENDED;
    }
    if (liveness_same_boot(liveness, header->boot_id) && (header->features & STORE_FEATURE_LOCKED)) {
        return store_file_locked(file) ? PROCESS_RUNNING : PROCESS_ENDED;
    }
    if (liveness_same_boot(liveness, header->boot_id)) {
        return liveness_runs(liveness, header->pid, header->pid_start_ticks) ? PROCESS_RUNNING
                                                                             : PROCESS_ENDED;
    }
    return liveness_same_host(liveness, header->host) ? PROCESS_ENDED : PROCESS_RUNNING;
}

static double seconds_of(struct liveness *liveness, const struct store_header *header,
                         enum process_state state)
{
    uint64_t end = header->end_monotonic_ns;
    struct timespec now;
    if (state == PROCESS_RUNNING && liveness_same_boot(liveness, header->boot_id) &&
        clock_gettime(CLOCK_MONOTONIC, &now) == 0) {
        end = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    return end > header->start_monotonic_ns ? (double)(end - header->start_monotonic_ns) / 1e9 : 0;
}

/* --- its command --------------------------------------------------------------------------------------- */

static bool needs_quotes(const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    return argument[0] == '\0' || argument[strspn(argument, plain)] != '\0';
}

static void write_quoted(FILE *out, const char *argument)
{
    fputc('\'', out);
    for (const char *c = argument; *c; c++) {
        if (*c == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*c, out);
        }
    }
    fputc('\'', out);
}

/* As one would type it. NULL: out of memory. */
static const char *command_line(struct merged *merged, const char *arguments, uint32_t bytes)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out) {
        return NULL;
    }
    for (uint32_t at = 0; at < bytes; at += (uint32_t)strlen(arguments + at) + 1) {
        if (at) {
            fputc(' ', out);
        }
        if (needs_quotes(arguments + at)) {
            write_quoted(out, arguments + at);
        } else {
            fputs(arguments + at, out);
        }
    }
    const char *copy = fclose(out) == 0 ? arena_copy(&merged->merge->arena, text, length) : NULL;
    free(text);
    return copy;
}

/* --- all of it ----------------------------------------------------------------------------------------- */

static void strings_describe(struct merged *merged, struct merged_process *process, struct store_file *file)
{
    const struct store_header *header = &file->header;
    char *command = header->command.bytes ? store_file_string(file, header->command) : NULL;
    char *directory = header->directory.bytes ? store_file_string(file, header->directory) : NULL;
    if (command) {
        process->command = command_line(merged, command, header->command.bytes);
    }
    if (directory) {
        process->directory = arena_copy(&merged->merge->arena, directory, strlen(directory));
    }
    free(command);
    free(directory);
}

bool process_describe(struct merged *merged, struct merged_process *process, struct store_file *file,
                      const char *path)
{
    const struct store_header *header = &file->header;
    struct arena *arena = &merged->merge->arena;
    *process = (struct merged_process){
        .path = arena_copy(arena, path, strlen(path)),
        .host = "unknown",
        .command = "",
        .directory = "",
        .rank = -1,
        .local_rank = -1,
        .state = state_of(&merged->merge->liveness, file),
        .lost = header->lost,
        .lost_reason = (enum store_loss)header->lost_reason,
        .hook_samples = header->hook_samples,
        .hook_ns = header->hook_ns,
        .hook_new = header->hook_new,
        .hook_new_ns = header->hook_new_ns,
    };
    if (file->header_intact) {
        process->host = arena_copy(arena, header->host, strnlen(header->host, sizeof header->host));
        process->pid = header->pid;
        process->rank = header->rank;
        process->local_rank = header->local_rank;
        process->world_size = header->world_size;
        process->driver_version = header->driver_version;
        process->features = header->features;
        process->start_realtime_ns = header->start_realtime_ns;
        process->seconds = seconds_of(&merged->merge->liveness, header, process->state);
        strings_describe(merged, process, file);
    }
    return process->path && process->host && process->command && process->directory;
}
