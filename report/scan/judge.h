/* The occupancy a kernel can reach, from its resources and the model: which block sizes are good for it. */
#ifndef WARPWATCH_SCAN_JUDGE_H
#define WARPWATCH_SCAN_JUDGE_H

#include "report/model/occupancy.h"
#include "scan.h"

struct scan_question {
    int block;                /* threads; 0: the kernel's launch bound, else its best size */
    int dynamic_shared_bytes; /* not in any file: 0 unless the user says so */
    int device_capability;    /* judge on this device; 0: on the architecture the kernel is compiled for */
};

#define SCAN_BLOCKS_MOST 32
struct scan_blocks {
    uint32_t count;
    uint16_t threads[SCAN_BLOCKS_MOST]; /* ascending */
};

struct scan_verdict {
    bool known;                     /* false: no resources (PTX), or none the model accepts */
    uint32_t block;                 /* what `occupancy` is for: as asked, or the most or only size allowed */
    struct occupancy occupancy;     /* at that block */
    double best_occupancy;          /* over the whole warps from 1 to the most that the kernel allows */
    struct scan_blocks best_blocks; /* the sizes that reach it */
};

struct scan_verdict scan_judge(const struct scan_kernel *kernel, const struct scan_question *question);

#endif
