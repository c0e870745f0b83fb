/* Where the store lives: in the output directory if a shared mapping is safe there, else in memory (/dev/shm
 * or WARPWATCH_LIVE) with a pointer file in the output directory, else nowhere but in this process. */
#ifndef WARPWATCH_PLACE_H
#define WARPWATCH_PLACE_H

#include <limits.h>

#include "platform.h"

enum place_kind {
    PLACE_OUTPUT,   /* in the output directory itself */
    PLACE_LIVE,     /* elsewhere, the output directory has a pointer to it */
    PLACE_ANONYMOUS /* no file can be made: a memory file, or plain memory */
};

struct place {
    enum place_kind kind;
    char name[160]; /* of the store, without directory */
    /* The store as it is now: /proc/self/fd/N for a memory file, "" for plain memory. */
    char path[PATH_MAX + 192];
    char final[PATH_MAX + 192];   /* in the output directory */
    char pointer[PATH_MAX + 192]; /* "" if there is none */
    const char *refused;          /* the directory in which no file could be made */
    bool live_unsuitable;         /* no shared mapping is safe in WARPWATCH_LIVE */
    int failure;                  /* why it is not PLACE_OUTPUT or PLACE_LIVE */
};

/* Makes the file; returns its descriptor, -1 for plain memory. */
int place_open(struct place *place);
/* The store is to live in memory after all, because of `failure`. */
int place_open_anonymous(struct place *place, int failure);
/* At the end: the store's bytes go to the output directory if they are not there. 0 or an errno. */
int place_settle(struct place *place, const void *bytes, uint64_t count);

#endif
