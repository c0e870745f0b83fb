/* What a person wants to know of a file with thousands of kernels: sums, and the worst first. */
#ifndef WARPWATCH_SCAN_SUMMARY_H
#define WARPWATCH_SCAN_SUMMARY_H

#include "judge.h"

struct scan_judged {
    const struct scan_kernel *kernel;
    struct scan_verdict verdict;
};

#define SCAN_REACH_STEPS 4 /* up to 25, 50, 75 and 100 % */
struct scan_arch_summary {
    uint32_t sm;
    char variant;
    size_t kernels;
    uint32_t registers_median, registers_most;
    uint32_t shared_most_bytes;
    size_t with_stack;              /* local arrays, spills or calls */
    size_t reach[SCAN_REACH_STEPS]; /* kernels by the occupancy at their block */
};

struct scan_limiter_summary {
    unsigned limiters; /* enum occupancy_limiter together */
    size_t kernels;
};

struct scan_summary {
    struct scan_judged *judged; /* kernels with resources, worst first, then those without */
    size_t judged_count;
    size_t prelink_copies; /* left out: the linked kernel of that name and architecture is there */
    size_t without_resources;
    struct scan_arch_summary *archs; /* by architecture */
    size_t archs_count;
    struct scan_limiter_summary *limiters; /* most frequent first; of kernels below full occupancy */
    size_t limiters_count;
    size_t full; /* kernels that reach 100 % */
};

/* False: out of memory. The summary refers to `file`. */
bool scan_summarize(const struct scan_file *file, const struct scan_question *question,
                    struct scan_summary *summary);
void scan_summary_free(struct scan_summary *summary);

/* Equal in all that the list shows but the name. */
bool scan_same_resources(const struct scan_judged *left, const struct scan_judged *right);

#endif
