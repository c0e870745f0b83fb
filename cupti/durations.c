/* Bounded statistics: reservoir sampling (Vitter's algorithm R) for the median, everything else exact. */
#include "cupti/durations.h"

#include <stdlib.h>
#include <string.h>

static uint64_t next_random(struct durations *durations) /* xorshift64: Marsaglia 2003 */
{
    uint64_t x = durations->random ? durations->random : 0x9e3779b97f4a7c15u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return durations->random = x;
}

void durations_add(struct durations *durations, uint64_t ns)
{
    uint32_t capped = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
    uint64_t place = durations->count < DURATION_SAMPLES ? durations->count
                                                         : next_random(durations) % (durations->count + 1);
    if (place < DURATION_SAMPLES) {
        durations->seen[place] = capped;
    }
    durations->min_ns = durations->count == 0 || ns < durations->min_ns ? ns : durations->min_ns;
    durations->max_ns = ns > durations->max_ns ? ns : durations->max_ns;
    durations->total_ns += ns;
    durations->count++;
}

static int compare_ns(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static uint64_t median_ns(const struct durations *durations)
{
    uint32_t sorted[DURATION_SAMPLES];
    size_t n = durations->count < DURATION_SAMPLES ? (size_t)durations->count : DURATION_SAMPLES;
    if (n == 0) {
        return 0;
    }
    memcpy(sorted, durations->seen, sizeof sorted);
    qsort(sorted, n, sizeof *sorted, compare_ns);
    return n % 2 ? sorted[n / 2] : ((uint64_t)sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

void durations_publish(const struct durations *durations, struct store_measurement *record, uint32_t source)
{
    record->source |= source;
    record->gpu_ns_count = durations->count;
    record->gpu_ns_min = durations->min_ns;
    record->gpu_ns_median = median_ns(durations);
    record->gpu_ns_max = durations->max_ns;
    record->gpu_ns_total = durations->total_ns;
    __atomic_store_n(&record->valid, record->valid | STORE_MEASURED_GPU_TIME, __ATOMIC_RELEASE);
}
