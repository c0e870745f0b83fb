/* What a launch counts as, when the hot path has not seen its like: asks the driver, once, what it is. */
#ifndef WARPWATCH_RESOLVE_H
#define WARPWATCH_RESOLVE_H

#include "launch.h"
#include "store_format.h"

struct resolved {
    uint32_t configuration; /* STORE_NO_TARGET: left out or beyond the limit, count it for the kernel */
    uint32_t kernel;        /* STORE_NO_TARGET: there is no room, not even for that */
    bool provisional;       /* met while streams are captured: not to be kept */
    bool bound;             /* the handle alone says on which device it runs */
};

/* `context` is where it runs, NULL if the handle and the stream say so. */
struct resolved resolve_configuration(const struct launch *launch, CUcontext context);
/* The STORE_TARGET that a launch of its own counts for, STORE_NO_TARGET if there is no room. `words` is NULL
 * for a shape that cannot be kept as a key. */
uint32_t resolve(const struct launch *launch, const struct launch_words *words);
/* Captures are over: find out what was met meanwhile. */
void resolve_pending(void);
/* The function (NULL: every one) is gone: what was met of it stays as it is. Locked. */
void resolve_drop_pending(const void *function);
/* Between these no other thread asks the driver about what was met: a handle that is about to end can be
 * dropped. Not under the recorder's lock. */
void resolve_pause(void);
void resolve_go_on(void);

#endif
