/* Directories are walked: caches of compilers keep each kernel in a file of its own. */
#include "paths.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli.h"

static void add_path(struct scan_paths *paths, const char *name, const char *directory)
{
    if (paths->count == paths->capacity) {
        size_t capacity = paths->capacity ? 2 * paths->capacity : 16;
        struct scan_path *grown = realloc(paths->at, capacity * sizeof *grown);
        if (!grown) {
            cli_complain("file '%s': out of memory", name);
            return;
        }
        paths->at = grown;
        paths->capacity = capacity;
    }
    char *copy = strdup(name);
    if (copy) {
        paths->at[paths->count++] = (struct scan_path){copy, directory};
    }
}

static void add_found(struct scan_paths *paths, const FTSENT *found, const char *root)
{
    switch (found->fts_info) {
    case FTS_F:
        add_path(paths, found->fts_path, found->fts_level > 0 ? root : NULL);
        break;
    case FTS_DEFAULT:
        if (found->fts_level == 0) {
            add_path(paths, found->fts_path, NULL);
        }
        break;
    case FTS_NS:
    case FTS_ERR:
    case FTS_DNR:
        cli_complain("file '%s': %s", found->fts_path, strerror(found->fts_errno));
        paths->faults++;
        break;
    case FTS_SLNONE:
        if (found->fts_level == 0) {
            cli_complain("file '%s': the link leads nowhere", found->fts_path);
            paths->faults++;
        }
        break;
    default:
        break;
    }
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

void scan_paths_collect(char **names, struct scan_paths *paths)
{
    *paths = (struct scan_paths){0};
    for (; *names; names++) {
        char *const one[] = {*names, NULL};
        FTS *walk = fts_open(one, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, by_name);
        if (!walk) {
            cli_complain("file '%s': %s", *names, strerror(errno));
            paths->faults++;
            continue;
        }
        for (const FTSENT *found; (found = fts_read(walk)) != NULL;) {
            add_found(paths, found, *names);
        }
        fts_close(walk);
    }
}

void scan_paths_free(struct scan_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        free(paths->at[i].name);
    }
    free(paths->at);
}
