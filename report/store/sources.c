/* Which store files a list of paths stands for: directories hold them, pointer files lead to them, and a
 * process that turns up twice (a live store and its copy) counts once. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "store.h"

struct path_list {
    char **paths;
    size_t count, capacity;
};

/* Takes over the path. */
static bool path_append(struct path_list *list, char *path)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        char **grown = path ? realloc(list->paths, capacity * sizeof *grown) : NULL;
        if (!grown) {
            free(path);
            return false;
        }
        list->paths = grown;
        list->capacity = capacity;
    }
    list->paths[list->count++] = path;
    return path != NULL;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), suffix_length = strlen(suffix);
    return length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

static bool is_store_name(const char *name)
{
    return name[0] != '.' && (has_suffix(name, STORE_SUFFIX) || has_suffix(name, STORE_POINTER_SUFFIX));
}

static bool directory_list(struct path_list *list, const char *path, store_complaint *complain)
{
    DIR *directory = opendir(path);
    size_t before = list->count;
    bool held = true;
    if (!directory) {
        complain(path, strerror(errno));
        return true;
    }
    for (struct dirent *entry; held && (entry = readdir(directory));) {
        char *joined = NULL;
        if (is_store_name(entry->d_name)) {
            held = asprintf(&joined, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
                            entry->d_name) >= 0 &&
                   path_append(list, joined);
        }
    }
    closedir(directory);
    if (held && list->count == before) {
        complain(path, "no store (*" STORE_SUFFIX ") in this directory");
    }
    if (list->count > before) {
        qsort(list->paths + before, list->count - before, sizeof *list->paths, by_text);
    }
    return held;
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Of "x.ww.live": "x.ww". */
static char *home_of(const char *pointer)
{
    return strndup(pointer, strlen(pointer) - (sizeof STORE_POINTER_SUFFIX - sizeof STORE_SUFFIX));
}

/* A pointer file that is gone, since another reader brought its store home. */
static bool brought_home(const char *path)
{
    struct stat status;
    char *home = has_suffix(path, STORE_POINTER_SUFFIX) && stat(path, &status) != 0 ? home_of(path) : NULL;
    bool there = home && stat(home, &status) == 0;
    free(home);
    return there;
}

static bool file_list(struct path_list *list, const char *path, store_complaint *complain)
{
    char reason[STORE_REASON_BYTES];
    if (!has_suffix(path, STORE_POINTER_SUFFIX)) {
        return path_append(list, strdup(path));
    }
    char *store = live_store_find(path, reason);
    if (!store) {
        complain(path, reason);
        return true;
    }
    return path_append(list, store);
}

/* --- each process once --------------------------------------------------------------------------------- */

struct candidate {
    char *path;
    size_t position;
    uint64_t start_realtime_ns, pid_start_ticks;
    uint32_t pid, closed;
    uint64_t end_monotonic_ns;
    char host[64], boot_id[40];
};

static int by_process(const struct candidate *a, const struct candidate *b)
{
    int order = (a->start_realtime_ns > b->start_realtime_ns) - (a->start_realtime_ns < b->start_realtime_ns);
    order = order ? order : (a->pid > b->pid) - (a->pid < b->pid);
    order =
        order ? order : (a->pid_start_ticks > b->pid_start_ticks) - (a->pid_start_ticks < b->pid_start_ticks);
    order = order ? order : memcmp(a->host, b->host, sizeof a->host);
    return order ? order : memcmp(a->boot_id, b->boot_id, sizeof a->boot_id);
}

/* The closed store before the open one, then the one that lived longer. */
static int by_process_best_first(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = by_process(a, b);
    order = order ? order : (a->closed < b->closed) - (a->closed > b->closed);
    order = order ? order
                  : (a->end_monotonic_ns < b->end_monotonic_ns) - (a->end_monotonic_ns > b->end_monotonic_ns);
    return order ? order : (a->position > b->position) - (a->position < b->position);
}

static int by_position(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->position > b->position) - (a->position < b->position);
}

/* A file that says nothing credible about its process is like no other. */
static void candidate_fill(struct candidate *candidate, char *path, size_t position)
{
    struct store_file file;
    char reason[STORE_REASON_BYTES];
    *candidate = (struct candidate){.path = path, .position = position, .pid_start_ticks = position};
    if (!store_file_open(&file, path, reason)) {
        return;
    }
    if (file.header_intact) {
        candidate->start_realtime_ns = file.header.start_realtime_ns;
        candidate->pid_start_ticks = file.header.pid_start_ticks;
        candidate->pid = file.header.pid;
        candidate->closed = file.header.state == STORE_FINISHED;
        candidate->end_monotonic_ns = file.header.end_monotonic_ns;
        memcpy(candidate->host, file.header.host, sizeof candidate->host);
        memcpy(candidate->boot_id, file.header.boot_id, sizeof candidate->boot_id);
    }
    store_file_close(&file);
}

/* Hands the paths to keep to `sources`, in the order they were found. */
static bool keep_each_process_once(struct store_sources *sources, struct path_list *list)
{
    struct candidate *candidates = calloc(list->count + 1, sizeof *candidates);
    size_t kept = 0;
    if (!candidates) {
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        candidate_fill(&candidates[i], list->paths[i], i);
    }
    qsort(candidates, list->count, sizeof *candidates, by_process_best_first);
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && by_process(&candidates[kept - 1], &candidates[i]) == 0) {
            free(candidates[i].path);
        } else {
            candidates[kept++] = candidates[i];
        }
    }
    qsort(candidates, kept, sizeof *candidates, by_position);
    for (size_t i = 0; i < kept; i++) {
        list->paths[i] = candidates[i].path;
    }
    free(candidates);
    sources->paths = list->paths;
    sources->count = kept;
    return true;
}

static void path_list_free(struct path_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->paths[i]);
    }
    free(list->paths);
}

bool store_sources_find(struct store_sources *sources, const char *const *paths, size_t count,
                        store_complaint *complain)
{
    struct path_list named = {0}, files = {0};
    bool held = true;
    *sources = (struct store_sources){0};
    for (size_t i = 0; held && i < count; i++) {
        if (access(paths[i], F_OK) != 0 && !brought_home(paths[i])) {
            complain(paths[i], strerror(errno));
        } else if (is_directory(paths[i])) {
            held = directory_list(&named, paths[i], complain);
        } else {
            held = path_append(&named, brought_home(paths[i]) ? home_of(paths[i]) : strdup(paths[i]));
        }
    }
    for (size_t i = 0; held && i < named.count; i++) {
        held = file_list(&files, named.paths[i], complain);
    }
    held = held && keep_each_process_once(sources, &files);
    path_list_free(&named);
    if (!held) {
        path_list_free(&files);
    }
    return held;
}

void store_sources_free(struct store_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->paths[i]);
    }
    free(sources->paths);
    *sources = (struct store_sources){0};
}
