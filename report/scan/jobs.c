/* A queue of jobs in file order and the threads that work on it. */
#include "jobs.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* What jobs under way may hold together, and what idle buffers may, so that a scan stays within 300 MB with
 * the kernels of a large library. One larger entry runs alone. */
#define IN_FLIGHT_MOST_BYTES (128u << 20)
#define KEPT_MOST_BYTES      (64u << 20)

/* Workers are started and woken for this much work, not for each of thousands of small entries or files. */
#define WAKE_BYTES (1u << 20)

struct scan_pool {
    int fd;
    const struct scan_options *options;
    pthread_t workers[SCAN_PROCESSORS_MOST];
    unsigned workers_wanted, workers_count;
    pthread_mutex_t lock;
    pthread_cond_t added, freed, finished;
    struct scan_job **jobs;
    size_t jobs_count, jobs_capacity, next, done;
    size_t in_flight_bytes, kept_bytes, unannounced_bytes;
    uint64_t finished_bytes;
    bool closed;
};

static size_t job_bytes(const struct scan_job *job)
{
    size_t stored = job->entry.payload_bytes;
    return job->entry.codec == FATBIN_RAW ? stored : stored + job->entry.uncompressed_bytes;
}

static bool can_start(const struct scan_pool *pool)
{
    return pool->next < pool->jobs_count &&
           (pool->in_flight_bytes == 0 ||
            pool->in_flight_bytes + job_bytes(pool->jobs[pool->next]) <= IN_FLIGHT_MOST_BYTES);
}

static struct scan_job *take_job(struct scan_pool *pool)
{
    while (!can_start(pool)) {
        if (pool->closed && pool->next == pool->jobs_count) {
            return NULL;
        }
        pthread_cond_wait(pool->next < pool->jobs_count ? &pool->freed : &pool->added, &pool->lock);
    }
    struct scan_job *job = pool->jobs[pool->next++];
    pool->in_flight_bytes += job_bytes(job);
    return job;
}

static void *work(void *argument)
{
    struct scan_pool *pool = argument;
    struct scan_worker worker = {.fd = pool->fd, .options = pool->options, .kept_bytes = pool->kept_bytes};
    pthread_mutex_lock(&pool->lock);
    for (struct scan_job *job; (job = take_job(pool)) != NULL;) {
        pthread_mutex_unlock(&pool->lock);
        scan_job_run(job, &worker);
        pthread_mutex_lock(&pool->lock);
        pool->in_flight_bytes -= job_bytes(job);
        pool->finished_bytes += job->entry.payload_bytes;
        pthread_cond_broadcast(&pool->freed);
        if (++pool->done == pool->jobs_count && pool->closed) {
            pthread_cond_signal(&pool->finished);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    scan_worker_free(&worker);
    return NULL;
}

unsigned scan_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count > SCAN_PROCESSORS_MOST ? SCAN_PROCESSORS_MOST : (unsigned)count;
}

struct scan_pool *scan_pool_open(int fd, const struct scan_options *options)
{
    struct scan_pool *pool = calloc(1, sizeof *pool);
    if (!pool) {
        return NULL;
    }
    pool->fd = fd;
    pool->options = options;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->added, NULL);
    pthread_cond_init(&pool->freed, NULL);
    pthread_cond_init(&pool->finished, NULL);
    pool->workers_wanted = scan_processors();
    pool->kept_bytes = KEPT_MOST_BYTES / (2 * pool->workers_wanted); /* two buffers a worker */
    return pool;
}

static void start_workers(struct scan_pool *pool)
{
    while (pool->workers_count < pool->workers_wanted &&
           pthread_create(&pool->workers[pool->workers_count], NULL, work, pool) == 0) {
        pool->workers_count++;
    }
}

static bool append(struct scan_pool *pool, struct scan_job *job)
{
    if (pool->jobs_count == pool->jobs_capacity) {
        size_t capacity = pool->jobs_capacity ? 2 * pool->jobs_capacity : 64;
        struct scan_job **grown = realloc(pool->jobs, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        pool->jobs = grown;
        pool->jobs_capacity = capacity;
    }
    pool->jobs[pool->jobs_count++] = job;
    return true;
}

bool scan_pool_add(struct scan_pool *pool, const struct scan_job *job)
{
    struct scan_job *copy = malloc(sizeof *copy);
    if (!copy) {
        return false;
    }
    *copy = *job;
    pthread_mutex_lock(&pool->lock);
    bool added = append(pool, copy);
    pool->unannounced_bytes += job_bytes(job);
    if (pool->unannounced_bytes >= WAKE_BYTES) {
        pool->unannounced_bytes = 0;
        start_workers(pool);
        pthread_cond_broadcast(&pool->added);
    }
    pthread_mutex_unlock(&pool->lock);
    if (!added) {
        free(copy);
    }
    return added;
}

static struct timespec in_100_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 100000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

static void wait_for_jobs(struct scan_pool *pool, void (*tick)(void *, uint64_t), void *context)
{
    while (pool->done < pool->jobs_count) {
        struct timespec until = in_100_ms();
        pthread_cond_timedwait(&pool->finished, &pool->lock, &until);
        uint64_t finished = pool->finished_bytes;
        pthread_mutex_unlock(&pool->lock);
        tick(context, finished);
        pthread_mutex_lock(&pool->lock);
    }
}

void scan_pool_finish(struct scan_pool *pool, void (*tick)(void *context, uint64_t finished), void *context)
{
    pthread_mutex_lock(&pool->lock);
    pool->closed = true;
    pthread_cond_broadcast(&pool->added);
    if (pool->workers_count > 0) {
        wait_for_jobs(pool, tick, context);
    }
    pthread_mutex_unlock(&pool->lock);
    if (pool->workers_count == 0) {
        work(pool);
    }
    for (unsigned i = 0; i < pool->workers_count; i++) {
        pthread_join(pool->workers[i], NULL);
    }
}

size_t scan_pool_count(const struct scan_pool *pool)
{
    return pool->jobs_count;
}

struct scan_job *scan_pool_job(struct scan_pool *pool, size_t index)
{
    return pool->jobs[index];
}

void scan_pool_free(struct scan_pool *pool)
{
    for (size_t i = 0; i < pool->jobs_count; i++) {
        struct scan_job *job = pool->jobs[i];
        for (size_t k = 0; k < job->kernels_count; k++) {
            free(job->kernels[k].mangled);
        }
        free(job->kernels);
        free(job);
    }
    free(pool->jobs);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->added);
    pthread_cond_destroy(&pool->freed);
    pthread_cond_destroy(&pool->finished);
    free(pool);
}
