/* Compares the directory before and after; each store says which run it is of. */
#include "run_stores.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim/store_format.h"

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), suffix_length = strlen(suffix);
    return length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

static int is_store(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (ends_with(entry->d_name, STORE_SUFFIX) || ends_with(entry->d_name, STORE_POINTER_SUFFIX));
}

static bool names_append(char ***names, size_t *count, char *name)
{
    char **grown = name ? realloc(*names, (*count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(name);
        return false;
    }
    *names = grown;
    grown[(*count)++] = name;
    return true;
}

/* An unreadable directory has no stores. */
static bool names_read(const char *directory, char ***names, size_t *count)
{
    DIR *stream = opendir(directory);
    bool held = true;
    for (struct dirent *entry; stream && held && (entry = readdir(stream));) {
        if (is_store(entry)) {
            held = names_append(names, count, strdup(entry->d_name));
        }
    }
    if (stream) {
        closedir(stream);
    }
    if (*count > 0) {
        qsort(*names, *count, sizeof **names, by_text);
    }
    return held;
}

static uint64_t realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The store that a pointer file names, or the file itself. */
static FILE *open_store(const char *path)
{
    char target[PATH_MAX] = "";
    FILE *file = fopen(path, "re");
    if (file && ends_with(path, STORE_POINTER_SUFFIX)) {
        bool read = fgets(target, sizeof target, file) != NULL;
        fclose(file);
        target[strcspn(target, "\n")] = '\0';
        file = read ? fopen(target, "re") : NULL;
    }
    return file;
}

/* Of another run: it says so itself. Of a process whose environment was taken away nothing is known. */
static bool is_of_another(const struct run_stores *stores, const char *path)
{
    struct store_header header = {.run = 0};
    FILE *file = open_store(path);
    bool read = file && fread(&header, sizeof header, 1, file) == 1 &&
                memcmp(header.magic, STORE_MAGIC, sizeof header.magic) == 0;
    if (file) {
        fclose(file);
    }
    return read && header.run != 0 && header.run != stores->number;
}

/* Unequal for runs that overlap: their process numbers differ. */
static uint32_t number_of_run(uint64_t start_realtime_ns)
{
    uint32_t number = (uint32_t)getpid() + (uint32_t)(start_realtime_ns / 1000000000u << 22);
    return number ? number : 1;
}

bool run_stores_begin(struct run_stores *stores, const char *directory)
{
    stores->directory = directory;
    stores->start_realtime_ns = realtime_ns();
    stores->number = number_of_run(stores->start_realtime_ns);
    return names_read(directory, &stores->before, &stores->before_count);
}

bool run_stores_find(struct run_stores *stores)
{
    char **names = NULL;
    size_t count = 0;
    bool held = names_read(stores->directory, &names, &count);
    for (size_t i = 0; i < count; i++) {
        bool old = stores->before_count &&
                   bsearch(&names[i], stores->before, stores->before_count, sizeof *stores->before, by_text);
        char *path = NULL;
        if (held && !old) {
            held = asprintf(&path, "%s/%s", stores->directory, names[i]) >= 0;
        }
        if (held && path && is_of_another(stores, path)) {
            free(path);
        } else if (held && path) {
            held = names_append(&stores->paths, &stores->count, path);
        }
        free(names[i]);
    }
    free(names);
    return held;
}

static void names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
}

void run_stores_free(struct run_stores *stores)
{
    names_free(stores->before, stores->before_count);
    names_free(stores->paths, stores->count);
}

char *run_stores_report_path(const struct run_stores *stores, const char *suffix)
{
    char *path = NULL, host[64] = "";
    if (stores->count == 1) {
        size_t length = strlen(stores->paths[0]);
        length -= ends_with(stores->paths[0], STORE_POINTER_SUFFIX) ? strlen(".live") : 0;
        return asprintf(&path, "%.*s.%s", (int)length, stores->paths[0], suffix) < 0 ? NULL : path;
    }
    gethostname(host, sizeof host - 1);
    for (char *slash = host; (slash = strchr(slash, '/'));) {
        *slash = '_';
    }
    int length = asprintf(&path, "%s/warpwatch.%s.%d.%llu.%s", stores->directory, host, (int)getpid(),
                          (unsigned long long)stores->start_realtime_ns, suffix);
    return length < 0 ? NULL : path;
}
