/* Fat binaries and cubins: the one reader, used by `warpwatch scan`, by the report and by the simulated
 * driver.
 *
 * It trusts nothing in its input: every offset and size is checked against `size`, and a fault is a status,
 * never a crash. Nothing is kept: pointers handed to a visitor are valid during the call only, or as long as
 * the caller's image where the comment says so. No globals; safe from several threads. Format:
 * docs/fatbin.md. */
#ifndef WARPWATCH_CUBIN_H
#define WARPWATCH_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cubin_status {
    CUBIN_OK = 0,
    CUBIN_STOPPED,     /* a visitor returned false */
    CUBIN_TRUNCATED,   /* something reaches past the end */
    CUBIN_MALFORMED,   /* a field holds an impossible value */
    CUBIN_UNSUPPORTED, /* well-formed, but of a kind this reader does not know: obfuscated, LTO-IR, 32-bit */
    CUBIN_CODEC,       /* decompression failed or gave the wrong size */
    CUBIN_NO_MEMORY
};
const char *cubin_status_text(enum cubin_status status);

/* --- containers -------------------------------------------------------------------------------------------
 */

#define FATBIN_MAGIC         0xBA55ED50u /* a container */
#define FATBIN_WRAPPER_MAGIC 0x466243B1u /* what __cudaRegisterFatBinary gets: it points to a container */

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2, FATBIN_LTO = 8 };
enum fatbin_codec { FATBIN_RAW, FATBIN_LZ4_BLOCK, FATBIN_LZ4_FRAME, FATBIN_ZSTD };

struct fatbin_entry {
    uint16_t kind;         /* enum fatbin_kind, or a number not known */
    uint8_t codec;         /* enum fatbin_codec */
    char variant;          /* 'a', 'f' or 0 */
    uint32_t sm;           /* 90 = sm_90 */
    uint16_t major, minor; /* PTX: ISA version; ELF: 1.7 = ABI 7, 1.8 = ABI 8 */
    uint64_t flags;
    bool obfuscated;
    const unsigned char *payload; /* inside the caller's image; NULL from fatbin_entry_parse */
    size_t payload_bytes;         /* as stored, without padding */
    size_t uncompressed_bytes;    /* = payload_bytes when not compressed */
    const char *identifier;       /* not terminated; NULL without */
    uint32_t identifier_bytes;
    size_t offset; /* of the entry header in the container */
    size_t header_bytes, padded_bytes;
    unsigned index;
};
typedef bool (*fatbin_visitor)(const struct fatbin_entry *entry, void *context);

/* Walks one container (magic 0xBA55ED50). `size` may exceed it; *container_bytes (optional) gets its length.
 */
enum cubin_status fatbin_walk(const void *container, size_t size, fatbin_visitor visit, void *context,
                              size_t *container_bytes);

/* The two steps of that walk, for readers that do not hold the container in memory. The first wants
 * FATBIN_CONTAINER_HEADER_BYTES and gives the container's whole length. The second wants the whole entry
 * header, whose length stands at its offset 4, and fills everything but `offset`, `index` and the payload,
 * which lies header_bytes after the header; `room` is what the container has left from the header on. */
#define FATBIN_CONTAINER_HEADER_BYTES   16
#define FATBIN_ENTRY_HEADER_LEAST_BYTES 64
#define FATBIN_ENTRY_HEADER_MOST_BYTES  (1u << 20)
enum cubin_status fatbin_container_parse(const void *header, size_t size, uint64_t *container_bytes);
enum cubin_status fatbin_entry_parse(const void *header, size_t size, uint64_t room,
                                     struct fatbin_entry *entry);

#define FATBIN_ENTRY_LIMIT_BYTES (512u << 20)
/* Whether the payload can hold what the entry claims, before memory is taken for it. */
enum cubin_status fatbin_check_sizes(const struct fatbin_entry *entry);
/* Fills out[entry->uncompressed_bytes]; a raw entry is copied. */
enum cubin_status fatbin_decode(const struct fatbin_entry *entry, void *out);

/* The same for one entry after another: what the codecs set up is kept between them. Zeroed at first; for
 * one thread. */
struct fatbin_decoder {
    void *zstd;
};
enum cubin_status fatbin_decode_next(struct fatbin_decoder *decoder, const struct fatbin_entry *entry,
                                     void *out);
void fatbin_decoder_free(struct fatbin_decoder *decoder);

/* --- cubins ------------------------------------------------------------------------------------------------
 */

enum cubin_valid {
    CUBIN_HAS_REGISTERS = 1u << 0,
    CUBIN_HAS_STACK = 1u << 1, /* frame size known */
    CUBIN_HAS_MIN_STACK = 1u << 2,
    CUBIN_HAS_MAX_THREADS = 1u << 3, /* __launch_bounds__ */
    CUBIN_HAS_REQUIRED_BLOCK = 1u << 4,
    CUBIN_HAS_CLUSTER = 1u << 5,
    CUBIN_HAS_MAX_CLUSTER_RANK = 1u << 6,
    CUBIN_HAS_PARAMETERS = 1u << 7
};
#define CUBIN_MAX_PARAMETERS 4096

struct cubin_parameter {
    uint32_t offset, bytes;
};

struct cubin_kernel {
    const char *name; /* mangled, terminated, inside the image */
    uint32_t valid;   /* enum cubin_valid; a field whose bit is clear is unknown */
    uint32_t registers_per_thread;
    uint32_t static_shared_bytes; /* the kernel's own: without the 1 KB that sm_90+ reserves */
    uint32_t stack_bytes;         /* frame: local arrays and spills */
    uint32_t min_stack_bytes;     /* with all callees */
    uint32_t barriers;            /* named barriers, 0 without */
    uint32_t mbarriers;
    uint32_t constant_bytes;
    uint32_t max_threads[3];
    uint32_t required_block[3];
    uint32_t cluster[3];
    uint32_t max_cluster_rank;
    uint32_t max_registers;
    uint32_t parameter_bytes;
    uint32_t parameter_base; /* offset of the parameters in the constant bank */
    uint32_t parameters_count;
    const struct cubin_parameter *parameters; /* by ordinal; valid during the call */
    bool blocks_are_clusters;
    bool local_binding;
};
typedef bool (*cubin_visitor)(const struct cubin_kernel *kernel, void *context);

struct cubin_info {
    uint32_t sm;
    char variant;     /* 'a', 'f' or 0 */
    uint8_t abi;      /* 7 or 8 */
    bool relocatable; /* EM REL: not linked yet, resources are preliminary */
    bool address64, debug;
    uint32_t toolkit; /* 130 = 13.0, 0 unknown */
};

/* info and visit may be NULL. Kernels come in symbol-table order. */
enum cubin_status cubin_read(const void *elf, size_t size, struct cubin_info *info, cubin_visitor visit,
                             void *context);

/* A global (__device__, __constant__, __managed__) variable, for module loaders. */
struct cubin_global {
    const char *name;
    uint64_t bytes;
    const void *initial; /* `bytes` inside the image; NULL: zeros */
    bool constant;
};
typedef bool (*cubin_global_visitor)(const struct cubin_global *global, void *context);
enum cubin_status cubin_read_globals(const void *elf, size_t size, cubin_global_visitor visit, void *context);

/* --- PTX ---------------------------------------------------------------------------------------------------
 */

/* Whether the text begins as every PTX text must: with .version, behind nothing but space and comments. */
bool ptx_is_text(const char *text, size_t size);

/* The entry functions of a PTX text, as far as the text itself knows them: name, parameters, launch bounds,
 * required block, clusters. Registers, stack and shared memory are the assembler's to decide and stay
 * unknown. `size` may count a final NUL. The kernel's name is valid during the call only. */
enum cubin_status ptx_read(const char *text, size_t size, struct cubin_info *info, cubin_visitor visit,
                           void *context);

/* --- images handed to cuModuleLoadData and kin: no length is given
 * -------------------------------------------- */

enum image_kind { IMAGE_UNKNOWN, IMAGE_CUBIN, IMAGE_FATBIN, IMAGE_WRAPPER, IMAGE_PTX };

/* The first bytes decide. *size gets the length, found from headers *and* section extents (PTX: up to the
 * NUL). For IMAGE_WRAPPER *container gets the container it points to and *size that container's length. Reads
 * memory as the driver would: the caller vouches that a valid image is there. */
enum image_kind image_measure(const void *image, const void **container, size_t *size);

#endif
