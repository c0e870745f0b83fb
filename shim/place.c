/* Makes the store's file. Files are 0600, made anew, never through a link. */
#include "place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "clock.h"
#include "identity.h"
#include "settings.h"
#include "store_format.h"

static const char memory_directory[] = "/dev/shm";

static const long safe_file_systems[] = {
#define LOCAL_FILE_SYSTEM(number, name, late_space) number,
#include "local_file_systems.def"
#undef LOCAL_FILE_SYSTEM
};

static bool suits(const char *directory)
{
    struct statfs status;
    if (statfs(directory, &status) != 0) {
        return true; /* let making the file say what is wrong */
    }
    for (size_t i = 0; i < sizeof safe_file_systems / sizeof *safe_file_systems; i++) {
        if ((long)status.f_type == safe_file_systems[i]) {
            return true;
        }
    }
    return false;
}

/* Never in the root directory because the one in which the program was started is gone. */
static bool output_is_known(void)
{
    return settings.output[0] != '\0';
}

/* As a redirection would not, but as `warpwatch run -o` does: a directory that is not there is made. One
 * level: a longer path that is not there is a mistake. */
static void make_output(void)
{
    if (access(settings.output, F_OK) != 0 && errno == ENOENT) {
        mkdir(settings.output, 0777); /* let making the file say what is wrong */
    }
}

/* Where no mapping is safe a write may want new space each time, and end the program (SIGBUS) if there is
 * none. */
static const char *live_directory(void)
{
    if (settings.live[0] && suits(settings.live)) {
        return settings.live;
    }
    return suits(settings.output) ? settings.output : memory_directory;
}

static int create(const char *path, int access)
{
    int file;
    do {
        file = open(path, access | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (file < 0 && errno == EINTR);
    if (file >= 0) {
        fchmod(file, 0600); /* whatever the umask */
    }
    return file;
}

static void set_name(struct place *place)
{
    char host[64];
    identity_host(host);
    snprintf(place->name, sizeof place->name, "warpwatch.%s.%d.%llu" STORE_SUFFIX, host, (int)getpid(),
             (unsigned long long)clock_realtime_ns());
    snprintf(place->final, sizeof place->final, "%s/%s", settings.output, place->name);
}

static int write_whole(int file, const void *bytes, uint64_t count)
{
    const char *p = bytes;
    while (count) {
        ssize_t written = write(file, p, count < (1u << 30) ? count : 1u << 30);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : EIO;
        }
        p += written;
        count -= (uint64_t)written;
    }
    return 0;
}

/* A new file with this content, or none. */
static int write_file(const char *path, const void *bytes, uint64_t count)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < count) {
        return EFBIG; /* instead of SIGXFSZ */
    }
    int file = create(path, O_WRONLY);
    if (file < 0) {
        return errno;
    }
    int failure = write_whole(file, bytes, count);
    failure = close(file) != 0 && !failure ? errno : failure;
    if (failure) {
        unlink(path);
    }
    return failure;
}

static int write_pointer(struct place *place)
{
    char text[sizeof place->path + 1];
    int bytes = snprintf(text, sizeof text, "%s\n", place->path);
    snprintf(place->pointer, sizeof place->pointer, "%s/%.*s" STORE_POINTER_SUFFIX, settings.output,
             (int)(strlen(place->name) - strlen(STORE_SUFFIX)), place->name);
    int failure = write_file(place->pointer, text, (uint64_t)bytes);
    if (failure) {
        place->pointer[0] = '\0';
    }
    return failure;
}

/* Out of the way of programs that count on low numbers, but within the 64 that a process can have from the
 * start: for more, Linux (expand_fdtable) waits until all processors have seen it, 10 to 30 ms if there are
 * threads. The lowest three are never ours, even where the program was started without them: it would print
 * into the store. */
static int move_up(int file)
{
    int high = -1;
    for (int least = 48; file >= 0 && high < 0 && least >= 3; least /= 2) {
        high = fcntl(file, F_DUPFD_CLOEXEC, least);
    }
    if (file >= 0 && (high >= 0 || file < 3)) {
        close(file);
        file = high;
    }
    return file;
}

int place_open_anonymous(struct place *place, int failure)
{
    int file = move_up((int)syscall(SYS_memfd_create, "warpwatch", 1u /* close on exec */));
    place->kind = PLACE_ANONYMOUS;
    place->failure = failure;
    place->path[0] = '\0';
    if (file >= 0) {
        snprintf(place->path, sizeof place->path, "/proc/self/fd/%d", file);
    }
    return file;
}

int place_open(struct place *place)
{
    *place = (struct place){.kind = PLACE_OUTPUT};
    if (!output_is_known()) {
        place->refused = "the current directory";
        return place_open_anonymous(place, ENOENT);
    }
    make_output();
    const char *directory = live_directory();
    place->live_unsuitable = settings.live[0] && directory != settings.live;
    int file;
    do {
        set_name(place);
        snprintf(place->path, sizeof place->path, "%s/%s", directory, place->name);
        file = create(place->path, O_RDWR);
    } while (file < 0 && errno == EEXIST);
    int failure = file < 0 ? errno : 0;
    if (!failure && (file = move_up(file)) < 0) {
        unlink(place->path);
        failure = EMFILE;
    }
    place->refused = failure ? directory : settings.output;
    if (!failure && strcmp(place->path, place->final) != 0) {
        place->kind = PLACE_LIVE;
        failure = write_pointer(place);
    }
    if (failure && file >= 0) {
        unlink(place->path);
        close(file);
    }
    return failure ? place_open_anonymous(place, failure) : file;
}

int place_settle(struct place *place, const void *bytes, uint64_t count)
{
    if (place->kind == PLACE_OUTPUT) {
        return 0;
    }
    int failure = output_is_known() ? write_file(place->final, bytes, count) : ENOENT;
    if (failure) {
        return failure;
    }
    if (place->kind == PLACE_LIVE) {
        unlink(place->pointer);
        unlink(place->path);
    }
    memcpy(place->path, place->final, sizeof place->path);
    return 0;
}
