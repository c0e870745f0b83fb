/* Unpacking and reading of container entries on all processors, within a bound of memory. */
#ifndef WARPWATCH_SCAN_JOBS_H
#define WARPWATCH_SCAN_JOBS_H

#include "scan.h"

/* One cubin or PTX text. The first part is the producer's, the rest is filled by a worker. */
struct scan_job {
    uint64_t payload_offset; /* in the file */
    struct fatbin_entry entry;
    uint32_t container;
    bool bare; /* a file or a part of it, not an entry of a container: what it is stands inside */

    struct scan_kernel *kernels;
    size_t kernels_count, kernels_capacity;
    struct cubin_info info;
    enum cubin_status status;
    bool skipped; /* another architecture than asked for */
};

/* Those this process may run on. */
#define SCAN_PROCESSORS_MOST 16
unsigned scan_processors(void);

struct scan_pool;
struct scan_pool *scan_pool_open(int fd, const struct scan_options *options);
/* A copy of *job is taken. False: out of memory. */
bool scan_pool_add(struct scan_pool *pool, const struct scan_job *job);
/* Waits for all; `tick` is called now and then with the number of finished bytes. Then the jobs can be read.
 */
void scan_pool_finish(struct scan_pool *pool, void (*tick)(void *context, uint64_t finished), void *context);
size_t scan_pool_count(const struct scan_pool *pool);
struct scan_job *scan_pool_job(struct scan_pool *pool, size_t index);
void scan_pool_free(struct scan_pool *pool);

/* Room that one worker uses again and again: fresh pages would cost as much as the unpacking. */
struct scan_buffer {
    unsigned char *at;
    size_t capacity;
};
struct scan_worker {
    int fd;
    const struct scan_options *options;
    struct scan_buffer stored, image;
    struct fatbin_decoder decoder;
    size_t kept_bytes; /* larger buffers are given back after use */
};
void scan_job_run(struct scan_job *job, struct scan_worker *worker);
void scan_worker_free(struct scan_worker *worker);

#endif
