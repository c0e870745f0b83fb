/* The library, other preloads, and the directory where stores would go. */
#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "doctor.h"
#include "library.h"

void doctor_check_library(struct doctor *doctor)
{
    char *path = library_path();
    if (!path) {
        doctor_add(doctor, DOCTOR_PROBLEM, "library",
                   "install the whole tree: cmake --install build --prefix DIR",
                   "libwarpwatch.so is not beside this program");
    } else if (strpbrk(path, " :")) {
        doctor_add(doctor, DOCTOR_PROBLEM, "library",
                   "move the tree: LD_PRELOAD cannot hold a space or a colon", "%s", path);
    } else {
        doctor_add(doctor, DOCTOR_FINE, "library", "", "%s", path);
    }
    free(path);
}

void doctor_check_preloads(struct doctor *doctor)
{
    const char *preload = getenv("LD_PRELOAD"), *audit = getenv("LD_AUDIT");
    if (preload && *preload) {
        doctor_add(doctor, DOCTOR_NOTE, "LD_PRELOAD",
                   "`warpwatch run` puts our library before it; both are called", "already holds %s",
                   preload);
    } else {
        doctor_add(doctor, DOCTOR_FINE, "LD_PRELOAD", "", "no other library is preloaded");
    }
    if (audit && *audit) {
        doctor_add(doctor, DOCTOR_NOTE, "LD_AUDIT", "", "an auditor is loaded: %s; both work", audit);
    }
}

/* Those on which the shim writes stores in place. */
static const struct {
    long type;
    const char *name;
} local_file_systems[] = {
#define LOCAL_FILE_SYSTEM(number, name, late_space) {number, name},
#include "shim/local_file_systems.def"
#undef LOCAL_FILE_SYSTEM
};

static const char *local_name(const char *directory)
{
    struct statfs status;
    for (size_t i = 0;
         statfs(directory, &status) == 0 && i < sizeof local_file_systems / sizeof *local_file_systems; i++) {
        if ((long)status.f_type == local_file_systems[i].type) {
            return local_file_systems[i].name;
        }
    }
    return NULL;
}

static void check_room(struct doctor *doctor, const char *directory)
{
    struct statvfs room;
    if (statvfs(directory, &room) == 0 && (unsigned long long)room.f_bavail * room.f_frsize < (64u << 20)) {
        doctor_add(doctor, DOCTOR_PROBLEM, "disk space",
                   "a store takes 2 MB and 128 bytes a configuration: free some", "%llu KB are left in %s",
                   (unsigned long long)room.f_bavail * room.f_frsize >> 10, directory);
    }
}

static void check_live_directory(struct doctor *doctor)
{
    const char *live = getenv("WARPWATCH_LIVE");
    live = live && *live ? live : "/dev/shm";
    if (access(live, W_OK) == 0 && !local_name(live)) {
        doctor_add(doctor, DOCTOR_PROBLEM, "live store",
                   "set WARPWATCH_LIVE to a directory on ext4, xfs or tmpfs",
                   "no shared mapping is safe on the file system of %s", live);
    } else if (access(live, W_OK) == 0) {
        doctor_add(doctor, DOCTOR_FINE, "live store", "", "%s, brought to the output directory at the end",
                   live);
    } else {
        doctor_add(doctor, DOCTOR_PROBLEM, "live store", "set WARPWATCH_LIVE to a local directory", "%s: %s",
                   live, strerror(errno));
    }
}

/* A directory that is not there is made at the first launch, if the one above it is. */
static bool will_be_made(const char *output)
{
    bool missing = access(output, F_OK) != 0 && errno == ENOENT;
    char *copy = strdup(output);
    bool possible = copy && access(dirname(copy), W_OK | X_OK) == 0;
    free(copy);
    return missing && possible;
}

void doctor_check_output(struct doctor *doctor)
{
    const char *output = getenv("WARPWATCH_OUTPUT");
    output = output && *output ? output : ".";
    if (will_be_made(output)) {
        doctor_add(doctor, DOCTOR_FINE, "output", "", "%s, made at the first launch", output);
        return;
    }
    if (access(output, W_OK | X_OK) != 0) {
        doctor_add(doctor, DOCTOR_PROBLEM, "output",
                   "set WARPWATCH_OUTPUT to a directory that can be written", "%s: %s", output,
                   strerror(errno));
        return;
    }
    const char *name = local_name(output);
    if (name) {
        doctor_add(doctor, DOCTOR_FINE, "output", "", "%s (%s)", output, name);
    } else {
        doctor_add(doctor, DOCTOR_NOTE, "output", "",
                   "%s is no local file system: stores are kept elsewhere while they are written", output);
        check_live_directory(doctor);
    }
    check_room(doctor, output);
}
