/* The merged data: what all stores of a run say together, the seam between store/ and everything after it.
 *
 * Plain arrays that refer to each other by index. Order of work: merged_new, merged_add_store for each file,
 * merged_finish; then judge_all (judge.h) fills `judged`, findings_compute fills `findings`, and the views
 * only read. Strings are terminated, live as long as the data, and hold no NUL; they are otherwise as the
 * store gave them, so a view makes them safe for its medium (names/visible.h).
 *
 * Validity: a field with a bit in `valid` is meaningless while the bit is clear; pointers may be NULL and
 * indices MERGED_NONE where said. Counts are exact and need no bit. */
#ifndef WARPWATCH_MERGED_H
#define WARPWATCH_MERGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/store_format.h"

#define MERGED_NONE UINT32_MAX

enum process_state { PROCESS_RUNNING, PROCESS_FINISHED, PROCESS_ENDED };
extern const char *const process_state_names[]; /* "running", "finished", "ended" */

struct merged_process {
    const char *path; /* of the store */
    const char *host;
    const char *command;   /* arguments joined by spaces, quoted for a shell where needed */
    const char *directory; /* working directory, "" unknown */
    const char *damage;    /* NULL: the store is whole; else what is missing from it, one line */
    uint32_t pid;
    int32_t rank;        /* -1 unknown */
    int32_t local_rank;  /* -1 unknown */
    uint32_t world_size; /* 0 unknown */
    uint32_t driver_version;
    enum process_state state;
    uint64_t features; /* STORE_FEATURE_* */
    uint64_t start_realtime_ns;
    double seconds; /* from the first launch to the last sign of life */
    uint64_t launches, graph_launches, runtime_launches;
    uint64_t lost;
    enum store_loss lost_reason;
    uint64_t uncounted[3];          /* by enum store_uncounted */
    uint64_t further;               /* launches beyond the limit of configurations */
    uint64_t filtered;              /* launches that WARPWATCH_FILTER left out: counted, not told apart */
    uint64_t launch_call_ns;        /* valid if features & STORE_FEATURE_TIMES */
    uint64_t gaps, gap_ns;          /* the same: time between two launch calls of a thread */
    uint64_t gap_histogram[24];     /* the same: as in struct store_shard */
    uint64_t hook_samples, hook_ns; /* own cost: hook_ns ÷ hook_samples; 0 samples = unknown */
    uint64_t hook_new, hook_new_ns; /* launches of what was new to a thread, and what watching those took */
    uint64_t measuring_ns;          /* that went into timing and counters, on the launching threads */
    uint32_t threads;               /* that launched */
};

struct merged_device {
    const char *host;
    struct store_device limits; /* with its `valid` bits; `ordinal` is that of the first process */
    bool ordinal_differs;       /* processes number it differently: the ordinal is not its own */
    bool simulated;
    const struct device *listed; /* not seen by a process, only known by its published figures; else NULL */
    uint64_t launches;           /* of all configurations that name it */
};

struct merged_host {
    const char *name;
    uint32_t processes;
    uint64_t launches, graph_launches;
};

/* --- judged: filled by judge_all, all arithmetic is there ---------------------------------------------- */

enum source { SOURCE_NONE, SOURCE_DRIVER, SOURCE_MODEL, SOURCE_MEASURED, SOURCE_ESTIMATED };
extern const char *const source_names[]; /* NULL, "driver", "model", "measured", "estimated" */

enum judged_valid {
    JUDGED_LIMITS = 1u << 0,    /* limit_* and limiters' explanation: the model could compute this launch */
    JUDGED_OCCUPANCY = 1u << 1, /* blocks_per_sm, theoretical_occupancy, limiters */
    JUDGED_WAVES = 1u << 2,     /* slots, sms, waves, full_waves, tail_*, idle_sms, waste */
    JUDGED_SLOTS = 1u << 3,     /* slots alone: 0 where no block fits */
};

enum launch_label {
    LABEL_COOPERATIVE = 1u << 0,
    LABEL_PERSISTENT = 1u << 1, /* grid = whole multiple of the SMs, within one wave */
    LABEL_CLUSTER = 1u << 2,
    LABEL_COMMUNICATION = 1u << 3,  /* NCCL, NVSHMEM and kin, by name */
    LABEL_PROGRAMMATIC = 1u << 4,   /* programmatic dependent launch */
    LABEL_PARTIAL_DEVICE = 1u << 5, /* the context has fewer SMs than the device (MPS, green context) */
    LABEL_CONCURRENT = 1u << 6,     /* most launches beside others: what they leave idle may be in use */
    LABEL_TRITON = 1u << 7,         /* by Triton, as far as name and launch bounds tell */
};
#define LABEL_KINDS 8
extern const char *const launch_label_names[LABEL_KINDS];

struct judgement {
    unsigned valid; /* enum judged_valid */
    uint32_t blocks_per_sm;
    uint32_t model_blocks_per_sm; /* JUDGED_LIMITS; differs from blocks_per_sm where the driver disagrees */
    uint32_t limit_threads, limit_blocks, limit_registers, limit_shared_memory; /* JUDGED_LIMITS: blocks */
    uint32_t limit_barriers;      /* the same; UINT32_MAX where not a limit */
    double theoretical_occupancy; /* 0–1 */
    unsigned limiters;            /* enum occupancy_limiter */
    uint32_t warps_per_block;     /* always valid */
    uint32_t sms;                 /* of the device or, fewer, of the context */
    uint64_t blocks;              /* of the grid, always valid */
    uint64_t slots;
    double waves;
    uint64_t full_waves;
    double tail_fullness, tail_waste;
    uint64_t idle_sms;             /* in the only or last wave */
    uint32_t idle_lanes_per_block; /* always valid */
    uint32_t barriers;             /* of the kernel, from its image; MERGED_NONE unknown */
    double taken;           /* SMs × ceil(waves) × launches: SM-waves over the whole run, used or idle */
    double taken_ns;        /* the same as SM·ns; valid if gpu time is (measured.valid) */
    double waste, waste_ns; /* of those, idle for want of blocks; 0 where that is by design */
    enum source occupancy_source, waves_source, limiters_source;
};

struct merged_configuration {
    uint32_t kernel, device;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 1×1×1: none */
    uint32_t dynamic_shared_bytes;
    uint32_t flags; /* STORE_LAUNCH_* */
    uint32_t valid; /* STORE_CONFIGURATION_* */
    uint32_t max_dynamic_shared_bytes;
    int32_t carveout_percent;
    uint32_t context_sms;
    uint32_t driver_blocks_per_sm;
    uint32_t driver_max_active_clusters;
    uint64_t launches, graph_launches, runtime_launches; /* launches counts all three ways */
    uint64_t launch_call_ns;                             /* of the direct ones; see merged.features */
    uint64_t beside_others;   /* direct ones in streams other than their process's main one, and replayed ones
                                 in branches of a graph beside others */
    uint32_t successor;       /* configuration that most often came next on the same thread, or MERGED_NONE */
    uint64_t successor_votes; /* lead over all others together; 0: one of several, none of them leads */
    uint32_t first_share, shares;      /* in merged.shares */
    struct store_measurement measured; /* `valid` and `source` say what there is; 0 = not measured */
    unsigned labels;                   /* enum launch_label, by judge_all */
    struct judgement judged;
    struct judgement elsewhere; /* on merged.elsewhere, where that is asked for */
    double elsewhere_loss; /* warp slots × launches that work here and not there, as a share; < 0: a gain;
                              infinite: it cannot run there */
};

/* What one process launched of one configuration. Sorted by (configuration, process). */
struct merged_share {
    uint32_t configuration, process;
    uint64_t launches, graph_launches, runtime_launches;
    uint64_t launch_call_ns;
};

struct merged_kernel {
    const char *mangled;
    const char *name;       /* demangled in full */
    const char *short_name; /* unique within the report, safe to print anywhere but HTML and JSON */
    const char *image;      /* file the code came from, or NULL */
    uint32_t registers_per_thread, static_shared_bytes, local_bytes, max_threads_per_block;
    uint32_t constant_bytes, binary_version, ptx_version;
    uint32_t required_cluster[3];                        /* 0: none */
    uint32_t barriers;                                   /* named ones, from the image; MERGED_NONE unknown */
    uint32_t valid;                                      /* STORE_KERNEL_* */
    uint32_t first_configuration, configurations;        /* a run in merged.configurations */
    uint64_t launches, graph_launches, runtime_launches; /* with `further` */
    uint64_t launch_call_ns;
    uint64_t further_launches, further_graph_launches, further_runtime_launches;
    double waste, waste_ns;            /* sum of its configurations */
    bool occupancy_known, waves_known; /* of at least one configuration: what is below means those */
    double theoretical_occupancy;      /* mean over launches */
    double idle_share; /* of the SM-waves that its launches took, those idle for want of blocks */
    double least_waves, most_waves;
    unsigned limiters;        /* of the configuration with most launches */
    unsigned labels;          /* of any configuration */
    uint32_t unnamed_process; /* STORE_KERNEL_UNNAMED: the only process whose kernel it is */
};

/* --- findings: filled by report/findings --------------------------------------------------------------- */

enum finding_severity { SEVERITY_HIGH, SEVERITY_MEDIUM, SEVERITY_LOW, SEVERITY_NOTE };
extern const char *const finding_severity_names[]; /* "high", "medium", "low", "note" */

struct merged_finding {
    const char *id;    /* "tail-waste": also the name of its page in docs/findings/ */
    const char *title; /* a few words */
    enum finding_severity severity;
    uint32_t kernel;        /* MERGED_NONE: about the run as a whole */
    uint32_t configuration; /* index in merged.configurations, MERGED_NONE: the kernel as a whole */
    uint64_t launches;      /* how many of them it concerns */
    double cost;            /* rank among findings: SM-waves or SM·ns over the whole run, larger is worse */
    double share;         /* cost ÷ what all launches of the run offered, 0–1; 0 where there is no cost */
    const char *evidence; /* the figures, one sentence */
    const char *advice;   /* one sentence that can be acted on */
};

/* A rank that launched a kernel more or less often than most others did. */
struct merged_odd_rank {
    uint32_t process, kernel;
    uint64_t launches;
    uint64_t usual;       /* what most ranks launched: the median */
    uint32_t usual_ranks; /* how many launched exactly that */
};

/* Launches that were measured, by what measured them: timing by itself, and the metric sets of counters. */
struct measured_count {
    uint64_t timing, set_a, set_b;
};

struct merged_totals {
    uint64_t launches, graph_launches, runtime_launches; /* of the whole run, kernels not selected included */
    uint64_t launch_call_ns;                             /* valid if times_known */
    uint64_t lost, uncounted, further, filtered;
    uint32_t kernels, configurations;
    uint64_t gaps, gap_ns, gap_histogram[24]; /* valid if times_known */
    uint64_t hook_samples, hook_ns, hook_new, hook_new_ns;
    bool times_known;               /* every process that launched kept launch-call times */
    struct measured_count measured; /* valid if measuring_known, as is the next */
    uint64_t measuring_ns;
    struct store_measurement graphs; /* GPU times of whole replays; count 0: none was timed */
    bool measuring_known;            /* some process timed or counted */
    bool runtime_known;              /* some process was not recorded through callbacks */
    double taken, taken_ns;          /* sums of the configurations' own, whatever merged_select leaves out */
    bool gpu_times_complete;         /* taken_ns covers every configuration */
};

struct merged {
    struct merged_process *processes;
    struct merged_device *devices;
    struct merged_host *hosts;
    struct merged_kernel *kernels; /* after merged_select: worst first */
    struct merged_configuration *configurations;
    struct merged_share *shares;
    struct merged_odd_rank *odd_ranks;
    struct merged_finding *findings;
    uint32_t processes_count, devices_count, hosts_count, kernels_count, configurations_count;
    uint32_t shares_count, odd_ranks_count, findings_count;
    struct merged_totals totals;
    const struct merged_device
        *elsewhere;       /* --device: the GPU that `elsewhere` judgements are for, or NULL */
    bool gpu_times_known; /* of some configuration: waste is then compared as SM·ns */
    uint32_t damaged;     /* stores of which a part was unreadable */
    struct merge *merge;  /* private to store/ */
};

struct merged *merged_new(void); /* NULL: out of memory */
void merged_free(struct merged *merged);

/* Memory that lives as long as the data: for names and sentences. NULL: out of memory. */
void *merged_allocate(struct merged *merged, size_t bytes);
const char *merged_print(struct merged *merged, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline uint64_t merged_uncounted(const struct merged_process *process)
{
    return process->uncounted[0] + process->uncounted[1] + process->uncounted[2];
}

static inline bool configuration_has_cluster(const struct merged_configuration *configuration)
{
    const uint32_t *cluster = configuration->cluster;
    return (uint64_t)cluster[0] * cluster[1] * cluster[2] > 1;
}

#endif
