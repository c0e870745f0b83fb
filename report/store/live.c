/* Follows pointer files and brings home the stores of processes that are gone. */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_our_file(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_uid == geteuid();
}

/* The path in the pointer file, NULL: unreadable or not one. */
static char *pointer_target(const char *pointer, bool *ours)
{
    char text[PATH_MAX + 1];
    struct stat status;
    int fd = stat(pointer, &status) == 0 && S_ISREG(status.st_mode)
                 ? open(pointer, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                 : -1;
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    *ours = fd >= 0 && fstat(fd, &status) == 0 && is_our_file(&status);
    if (fd >= 0) {
        close(fd);
    }
    if (length <= 1 || text[0] != '/') {
        return NULL;
    }
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return strdup(text);
}

static bool copy_bytes(int from, int to)
{
    static char buffer[1 << 16];
    ssize_t got;
    while ((got = read(from, buffer, sizeof buffer)) > 0) {
        for (ssize_t done = 0, put; done < got; done += put) {
            put = write(to, buffer + done, (size_t)(got - done));
            if (put < 0) {
                return false;
            }
        }
    }
    return got == 0 && fsync(to) == 0;
}

/* Complete or not at all: under another name first. The home path must be free: what lies there is not ours.
 */
static bool copy_file(const char *from, const char *to)
{
    char *temporary = NULL;
    int source = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), target = -1;
    if (source >= 0 && asprintf(&temporary, "%s.XXXXXX", to) >= 0) {
        target = mkstemp(temporary);
    }
    bool copied = target >= 0 && copy_bytes(source, target) && link(temporary, to) == 0;
    if (target >= 0) {
        close(target);
        unlink(temporary);
    }
    if (source >= 0) {
        close(source);
    }
    free(temporary);
    return copied;
}

/* "x.ww.live" leads to "x.ww": a pointer file of another name was not made by the library. */
static bool same_name(const char *pointer, const char *store)
{
    size_t bytes = strlen(basename(pointer)) - (sizeof STORE_POINTER_SUFFIX - sizeof STORE_SUFFIX);
    return strlen(basename(store)) == bytes && memcmp(basename(pointer), basename(store), bytes) == 0;
}

/* A store that is our user's own regular file; a pointer file must not make us delete anything else. */
static bool may_take(const char *store, struct store_file *file)
{
    struct stat status;
    return lstat(store, &status) == 0 && is_our_file(&status) &&
           (file->header.state == STORE_FINISHED ||
            ((file->header.features & STORE_FEATURE_LOCKED) && !store_file_locked(file)));
}

/* The new path, NULL: it stays where it is. */
static char *bring_home(const char *pointer, const char *store)
{
    struct store_file file;
    char reason[STORE_REASON_BYTES];
    if (!store_file_open(&file, store, reason)) {
        return NULL;
    }
    bool ended = may_take(store, &file);
    store_file_close(&file);
    char *home = ended
                     ? strndup(pointer, strlen(pointer) - (sizeof STORE_POINTER_SUFFIX - sizeof STORE_SUFFIX))
                     : NULL;
    if (!home || !copy_file(store, home)) {
        free(home);
        return NULL;
    }
    unlink(store);
    unlink(pointer);
    return home;
}

char *live_store_find(const char *pointer, char reason[STORE_REASON_BYTES])
{
    bool ours;
    char *store = pointer_target(pointer, &ours);
    if (!store) {
        snprintf(reason, STORE_REASON_BYTES, "names no store");
        return NULL;
    }
    if (access(store, R_OK) != 0) {
        snprintf(reason, STORE_REASON_BYTES, "its store %.140s: %s", store, strerror(errno));
        free(store);
        return NULL;
    }
    char *home = ours && same_name(pointer, store) ? bring_home(pointer, store) : NULL;
    if (home) {
        free(store);
    }
    return home ? home : store;
}
