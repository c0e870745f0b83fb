/* Which file a descriptor is, to tell whether it still is the same one: programs close and reuse numbers. */
#ifndef WARPWATCH_FILE_IDENTITY_H
#define WARPWATCH_FILE_IDENTITY_H

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform.h"

struct file_identity {
    uint64_t device, inode;
};

/* fstat of glibc is a newer symbol than this library may need. 0 or an errno. */
static inline int file_identify(int file, struct file_identity *identity)
{
    struct stat status;
    if (syscall(SYS_fstat, file, &status) != 0) {
        return errno;
    }
    *identity = (struct file_identity){status.st_dev, status.st_ino};
    return 0;
}

static inline bool file_is(int file, const struct file_identity *known)
{
    struct file_identity now = {0, 0};
    return file >= 0 && file_identify(file, &now) == 0 && now.device == known->device &&
           now.inode == known->inode;
}

#endif
