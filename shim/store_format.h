/* The store: the one definition of the file that the shim writes and the report reads.
 *
 * A store is one file per process: a header block, then extents back to back. An extent is a run of
 * fixed-size records of one kind (or, for STORE_STRINGS, bytes). Extents are appended and never move or
 * shrink. The writer fills a record, then publishes it by raising `used` with release order: records below
 * `used` are complete at any moment, also after SIGKILL. Only the fields marked (live) change after
 * publication. All numbers are little-endian.
 *
 * Glossary
 *   record index    position among all records of a kind, counted over its extents in file order, from 0
 *   string          (offset, bytes) in the file, inside a STORE_STRINGS extent, not terminated
 *   shard           one thread's counters; a shard outlives its thread and is adopted by a later one
 *   body            what one replay of an executable graph launches: a run of nodes, each a configuration ×
 * times valid bits      which optional fields the driver answered; a field whose bit is clear is unknown,
 * never 0
 *
 * Readers treat the file as untrusted: every offset, count and index is checked, `check` sums are verified.
 */
#ifndef WARPWATCH_STORE_FORMAT_H
#define WARPWATCH_STORE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define STORE_MAGIC        "WARPWTCH" /* 8 bytes, no terminator */
#define STORE_VERSION      1u
#define STORE_EXTENT_MAGIC 0x54584557u /* "WEXT" */
#define STORE_BLOCK_BYTES  4096u       /* header size; extents are multiples of it */

/* Where the output directory is no place for a shared mapping (network, FUSE, copy on write), the store lives
 * in /dev/shm or WARPWATCH_LIVE under its own name, and the directory holds a pointer file: its name with
 * this suffix, its content the absolute path and a newline. Whoever first finds the process ended copies it
 * over. */
#define STORE_SUFFIX         ".ww"
#define STORE_POINTER_SUFFIX ".ww.live"

/* Feature bits: a reader that meets an unknown bit in the low half refuses the file, in the high half ignores
 * it. */
#define STORE_FEATURE_TIMES    (1ull << 0) /* launch_call_ns and gaps were kept */
#define STORE_FEATURE_TRACE    (1ull << 32)
#define STORE_FEATURE_TIMING   (1ull << 33) /* GPU times by CUPTI or events */
#define STORE_FEATURE_COUNTERS (1ull << 34)
#define STORE_FEATURE_LOCKED                                                                                 \
    (1ull << 35) /* the writer holds flock(LOCK_EX) on the file for as long as it lives */
#define STORE_FEATURE_CALLBACKS                                                                              \
    (1ull << 36) /* recorded through CUPTI's callbacks: whether a shared runtime launched is not known */

enum store_state { STORE_RUNNING = 1, STORE_FINISHED = 2 };

struct store_string {
    uint64_t offset;
    uint32_t bytes;
    uint32_t reserved;
};

struct store_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* STORE_BLOCK_BYTES */
    uint64_t features;
    uint64_t pid_start_ticks;   /* field 22 of /proc/self/stat: tells a reused pid apart */
    uint64_t start_realtime_ns; /* CLOCK_REALTIME when the first launch was called that the driver accepted */
    uint64_t start_monotonic_ns; /* at the same moment */
    uint32_t pid;                /* in the process's own pid namespace */
    int32_t rank;                /* -1 unknown */
    int32_t local_rank;          /* -1 unknown */
    uint32_t world_size;         /* 0 unknown */
    uint32_t driver_version;     /* as cuDriverGetVersion answers, 13000 = 13.0; 0 unknown */
    uint32_t run;                /* the `warpwatch run` that started it, by the number it gave out; 0 none */
    char host[64];
    char boot_id[40];
    struct store_string command;   /* arguments, each ended by NUL, as in /proc/self/cmdline */
    struct store_string directory; /* working directory */
    uint32_t check;                /* store_check over all bytes before this field */

    /* from here on (live) */
    uint32_t state;      /* enum store_state */
    uint64_t file_bytes; /* end of the last extent: a shorter file was cut */
    uint64_t
        ticks_per_second; /* unit of launch_call_ns and gap_ns; 0 = nanoseconds; refined as time goes on */
    uint64_t end_monotonic_ns; /* last sign of life: growth, a new configuration or the exit */
    uint64_t lost;             /* launches seen but not recorded */
    uint32_t lost_reason;      /* enum store_loss, the first one */
    uint32_t reserved1;
    uint64_t hook_samples; /* other launches whose own cost was timed, and the sum of it */
    uint64_t hook_ns;
    uint64_t start_ticks;    /* the clock of launches at start_monotonic_ns: what a trace counts from */
    uint64_t hook_new;       /* launches that were new to their thread: looked at in full, each timed */
    uint64_t hook_new_ns;    /* what watching those took */
    uint64_t bodies_refused; /* graph launches counted kernel by kernel, for want of a body record */
};

enum store_loss { STORE_LOSS_NONE, STORE_LOSS_NO_SPACE, STORE_LOSS_NO_MEMORY, STORE_LOSS_LIMIT };

enum store_kind {
    STORE_STRINGS = 1,    /* bytes */
    STORE_DEVICES,        /* struct store_device */
    STORE_KERNELS,        /* struct store_kernel */
    STORE_CONFIGURATIONS, /* struct store_configuration */
    STORE_SHARDS,         /* struct store_shard */
    STORE_COUNTERS,       /* struct store_counter; owner = shard */
    STORE_BODIES,         /* struct store_body */
    STORE_NODES,          /* struct store_node */
    STORE_MEASUREMENTS,   /* struct store_measurement */
    STORE_TRACE,          /* struct store_trace; owner = shard */
    STORE_STREAMS,        /* struct store_stream */
    STORE_KINDS
};

struct store_extent { /* 64 bytes before the first record */
    uint32_t magic;   /* written last: a zero here ends the file */
    uint32_t kind;
    uint64_t bytes;        /* of the whole extent, this header included; multiple of STORE_BLOCK_BYTES */
    uint32_t record_bytes; /* 1 for STORE_STRINGS */
    uint32_t capacity;
    uint32_t used; /* (live) */
    uint32_t owner;
    uint64_t reserved[4];
};

struct store_device {
    uint32_t ordinal;            /* in the process: CUDA_VISIBLE_DEVICES applies */
    uint32_t compute_capability; /* 10 × major + minor */
    uint8_t uuid[16];
    char name[128];
    uint32_t sms;
    uint32_t warp_size;
    uint32_t max_threads_per_sm;
    uint32_t max_threads_per_block;
    uint32_t max_blocks_per_sm;
    uint32_t registers_per_sm;
    uint32_t registers_per_block;
    uint32_t shared_per_sm_bytes;
    uint32_t shared_per_block_bytes;
    uint32_t shared_per_block_optin_bytes;
    uint32_t reserved_shared_per_block_bytes;
    uint32_t l2_bytes;
    uint32_t clock_khz;
    uint32_t memory_clock_khz;
    uint32_t memory_bus_bits;
    uint32_t flags; /* STORE_DEVICE_* */
    uint64_t memory_bytes;
    uint64_t
        valid; /* bit n: the n-th uint32_t after `name`, from sms = 0; bit 16: uuid; bit 17: memory_bytes */
    uint32_t check;
    uint32_t reserved;
};
#define STORE_DEVICE_VALID_UUID   (1u << 16)
#define STORE_DEVICE_VALID_MEMORY (1u << 17)
#define STORE_DEVICE_MIG          (1u << 0)
#define STORE_DEVICE_MPS          (1u << 1)

struct store_kernel {
    struct store_string name;      /* mangled */
    struct store_string image;     /* file that the code came from, bytes = 0 unknown */
    uint32_t registers_per_thread; /* (live, with `valid`) all attributes: a kernel first met in a graph is
                                      described later */
    uint32_t static_shared_bytes;
    uint32_t local_bytes;
    uint32_t constant_bytes;
    uint32_t max_threads_per_block;
    uint32_t binary_version;
    uint32_t ptx_version;
    uint32_t required_cluster[3]; /* 0 = none */
    uint32_t valid;               /* (live) STORE_KERNEL_* */
    uint32_t check;               /* over name, image */
    uint32_t reserved[2];
};
#define STORE_KERNEL_ATTRIBUTES (1u << 0) /* registers … ptx_version */
#define STORE_KERNEL_CLUSTER    (1u << 1)
#define STORE_KERNEL_UNNAMED    (1u << 2) /* the driver could not name it: the name is made from its handle */
#define STORE_KERNEL_FILTERED   (1u << 3) /* stands for all kernels that WARPWATCH_FILTER left out */
#define STORE_KERNEL_REST       (1u << 4) /* stands for all kernels beyond the limit of kernels */

struct store_configuration {
    uint32_t kernel;
    uint32_t device;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3]; /* effective: launch attribute, else the kernel's own; 1×1×1 without */
    uint32_t dynamic_shared_bytes;
    uint32_t flags;                    /* STORE_LAUNCH_* */
    uint32_t max_dynamic_shared_bytes; /* (live, with `valid`) function attributes when first launched */
    int32_t carveout_percent;          /* -1 = driver's choice */
    uint32_t preferred_cluster[3];
    uint32_t valid;       /* (live) STORE_CONFIGURATION_* */
    uint32_t context_sms; /* SMs of the context: fewer than the device's under MPS or a green context */
    uint32_t driver_blocks_per_sm; /* cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags */
    uint32_t driver_max_active_clusters;
    uint64_t first_monotonic_ns;
    uint32_t check;   /* over kernel … flags */
    uint32_t same_as; /* (live) 0, or 1 + index of the configuration that this one turned out to be: it was
                         first met while a stream was captured, when the driver must not be asked. Add its
                         counts there */
    uint32_t reserved[6];
};
#define STORE_LAUNCH_COOPERATIVE (1u << 0)
#define STORE_LAUNCH_PDL         (1u << 1) /* programmatic dependent launch */
#define STORE_LAUNCH_MULTIDEVICE (1u << 2)

#define STORE_CONFIGURATION_ATTRIBUTES  (1u << 0) /* max_dynamic_shared_bytes, carveout_percent */
#define STORE_CONFIGURATION_BLOCKS      (1u << 1) /* driver_blocks_per_sm */
#define STORE_CONFIGURATION_CLUSTERS    (1u << 2) /* driver_max_active_clusters */
#define STORE_CONFIGURATION_CONTEXT_SMS (1u << 3)

struct store_shard {
    uint32_t thread; /* tid of the latest thread that used it */
    uint32_t adoptions;
    uint64_t gap_ns; /* (live) between the end of a launch call and the start of the next on the thread, in
                        header.ticks_per_second units if that is not 0 */
    uint64_t gaps;   /* (live) */
    uint64_t
        gap_histogram[24]; /* (live) log2 of ns: [0] below 128 ns, [n] 2^(n+6) … 2^(n+7) ns, the last open */
    uint64_t trace_lost;   /* (live) trace records that newer ones overwrote, or that found no room */
    uint64_t measuring;    /* (live) time that went into measuring launches, in the unit of gap_ns */
    uint64_t reserved[3];
};

/* One writer: the thread that holds the shard. `target` says what is counted. */
struct store_counter {
    uint32_t target;    /* STORE_TARGET(kind, index) */
    uint32_t successor; /* (live) target that most often came next on this thread: Boyer–Moore majority */
    uint64_t launches;  /* (live) */
    uint64_t launch_call_ns;  /* (live) in header.ticks_per_second units if that is not 0 */
    uint32_t successor_votes; /* (live) */
    uint32_t stream; /* (live) the stream that most of its launches went into, by the same vote: a mark of it,
                        unequal for most others, with the votes in STORE_STREAM_VOTES, where they stay at the
                        most they can be. 0: unknown */
};
#define STORE_STREAM_VOTES 0xffffu

#define STORE_TARGET(kind, index)  (((uint32_t)(kind) << 28) | (uint32_t)(index))
#define STORE_TARGET_KIND(target)  ((target) >> 28)
#define STORE_TARGET_INDEX(target) ((target)&0x0fffffffu)
#define STORE_NO_TARGET            0xffffffffu

enum store_target {
    STORE_DIRECT = 0,      /* configuration launched through the driver API */
    STORE_RUNTIME,         /* configuration launched through a shared libcudart */
    STORE_REPLAY,          /* body: replays of it */
    STORE_GRAPH_DIRECT,    /* configuration run by replays that were expanded one by one */
    STORE_FURTHER_DIRECT,  /* kernel: launches beyond the limit of configurations */
    STORE_FURTHER_RUNTIME, /* kernel: the same, through the runtime */
    STORE_FURTHER_GRAPH,   /* kernel: the same, by replay */
    STORE_UNCOUNTED /* index = enum store_uncounted: requests that led to launches the host cannot count */
};
enum store_uncounted {
    STORE_UNCOUNTED_CONDITIONAL,  /* a conditional node: its body runs as often as the GPU decides */
    STORE_UNCOUNTED_DEVICE_GRAPH, /* launch or upload of a graph that the GPU may launch again by itself */
    STORE_UNCOUNTED_DEVICE_UPDATABLE
};

struct store_body {
    uint32_t first_node; /* index of its first store_node */
    uint32_t nodes;
    uint32_t uncounted[3]; /* nodes of each enum store_uncounted in one replay */
    uint32_t check;
    uint32_t beside;      /* so many of its nodes, the last ones, may run beside others of the replay */
    uint32_t order_check; /* store_order_check; else the order of its nodes is not known */
};

/* At most two of a body for one configuration: alone, and beside others. */
struct store_node {
    uint32_t configuration;
    uint32_t times; /* how often one replay runs it */
};

struct store_measurement {  /* one per measured configuration; written by cupti/ */
    uint32_t configuration; /* or STORE_TARGET(STORE_REPLAY, body): GPU times of whole replays */
    uint32_t source;        /* STORE_MEASURED_*, STORE_ESTIMATED */
    uint64_t gpu_ns_count, gpu_ns_min, gpu_ns_median, gpu_ns_max, gpu_ns_total; /* (live) */
    uint64_t valid;                    /* (live) STORE_MEASURED_* bits */
    uint64_t samples_a, samples_b;     /* (live) launches measured by each metric set */
    uint64_t samples_timing;           /* (live) launches timed by themselves, not as a part of Set A */
    double achieved_occupancy;         /* (live) 0–1, mean over samples_a */
    double lane_utilization;           /* (live) 0–1 */
    double branch_efficiency;          /* (live) 0–1 */
    double sectors_per_request;        /* (live) */
    double bank_conflicts_per_request; /* (live) */
    double reserved[3];
};
#define STORE_MEASURED_GPU_TIME  (1u << 0)
#define STORE_MEASURED_OCCUPANCY (1u << 1)
#define STORE_MEASURED_LANES     (1u << 2)
#define STORE_MEASURED_BRANCHES  (1u << 3)
#define STORE_MEASURED_SECTORS   (1u << 4)
#define STORE_MEASURED_BANKS     (1u << 5)
#define STORE_ESTIMATED          (1u << 31) /* by event pairs, not by CUPTI */

/* One launch, in the order of the thread until its room is used up; then the oldest are overwritten, so sort
 * by time. */
struct store_trace {
    uint32_t target;   /* what the launch counted for; STORE_NO_TARGET: another thread takes over, its tid in
                          `duration` */
    uint32_t duration; /* of the launch call, in units of STORE_TRACE_TICKS, the last value stands for
                          anything longer */
    uint64_t when;     /* stream in the high 16 bits, start since header.start_ticks below. It publishes the
                          record, and not the extent's `used`. 0: not there, or being written */
};
/* A launch of a graph that is counted kernel by kernel, for want of a body record. */
#define STORE_TRACE_GRAPH     STORE_TARGET(STORE_REPLAY, 0x0fffffffu)
#define STORE_TRACE_TICKS     16u /* ticks in a unit of time */
#define STORE_TRACE_TIME_BITS 48
#define STORE_TRACE_NO_STREAM 0xffffu /* more than 65,535 streams */

struct store_stream {
    uint64_t handle; /* 1 legacy default, 2 the thread's own default; a destroyed stream's may come again */
};

_Static_assert(sizeof(struct store_header) <= STORE_BLOCK_BYTES, "header fits its block");
_Static_assert(sizeof(struct store_extent) == 64, "extent header");
_Static_assert(sizeof(struct store_configuration) == 128, "configuration record");
_Static_assert(sizeof(struct store_kernel) == 88, "kernel record");
_Static_assert(sizeof(struct store_body) == 32, "body record");
_Static_assert(sizeof(struct store_counter) == 32, "32 B a (thread, configuration)");
_Static_assert(sizeof(struct store_trace) == 16, "16 B a launch");

/* Of one record; 0 for a kind that this version does not know. */
static inline uint32_t store_record_bytes(uint32_t kind)
{
    static const uint32_t bytes[STORE_KINDS] = {
        [STORE_STRINGS] = 1,
        [STORE_DEVICES] = sizeof(struct store_device),
        [STORE_KERNELS] = sizeof(struct store_kernel),
        [STORE_CONFIGURATIONS] = sizeof(struct store_configuration),
        [STORE_SHARDS] = sizeof(struct store_shard),
        [STORE_COUNTERS] = sizeof(struct store_counter),
        [STORE_BODIES] = sizeof(struct store_body),
        [STORE_NODES] = sizeof(struct store_node),
        [STORE_MEASUREMENTS] = sizeof(struct store_measurement),
        [STORE_TRACE] = sizeof(struct store_trace),
        [STORE_STREAMS] = sizeof(struct store_stream),
    };
    return kind < STORE_KINDS ? bytes[kind] : 0;
}

/* FNV-1a: guards the parts of a record that never change after publication. */
static inline uint32_t store_check(const void *bytes, uint64_t count)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint32_t sum = 2166136261u;
    for (uint64_t i = 0; i < count; i++) {
        sum = (sum ^ p[i]) * 16777619u; // NOLINT: clang's analyzer follows fields, not their bytes
    }
    return sum;
}

/* Guards all of a body, `beside` too; never 0. */
static inline uint32_t store_order_check(const struct store_body *body)
{
    return store_check(body, offsetof(struct store_body, order_check)) | 1;
}

#endif
