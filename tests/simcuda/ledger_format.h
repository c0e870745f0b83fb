/* The ledger file: what the driver writes into a shared mapping and simrun turns into JSON.
 *
 * One file a process, an arena of blocks linked by offsets from its start (0 = none). A block is complete
 * before the offset that leads to it is published. Counters are written by one thread and may be read at any
 * moment. */
#ifndef SIMCUDA_LEDGER_FORMAT_H
#define SIMCUDA_LEDGER_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#define LEDGER_MAGIC       "SIMLEDGR"
#define LEDGER_PAGE_COUNT  60
#define LEDGER_FAULT_LIMIT 4096

enum ledger_call {
#define EXPORT(symbol, name, version, default_stream) LEDGER_CALL_##symbol,
#include "exports.def"
#undef EXPORT
    LEDGER_CALLS
};

struct ledger_header {
    char magic[8];
    uint64_t created_ns; /* CLOCK_REALTIME */
    uint32_t pid;
    _Atomic uint32_t faults; /* noted so far; above LEDGER_FAULT_LIMIT they are only counted */
    _Atomic uint64_t used_bytes;
    _Atomic uint64_t first_shard, first_fault;
    _Atomic uint64_t lost; /* launches not noted because the arena was full */
};

/* The calls of one thread, later of the thread that adopted the shard. */
struct ledger_shard {
    uint64_t next;
    _Atomic uint64_t first_page;
    _Atomic uint64_t calls[LEDGER_CALLS];
};

struct ledger_launch {
    uint64_t function; /* offset of its mangled name, ended by NUL */
    uint32_t device;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 1, 1, 1 without */
    uint32_t dynamic_shared_bytes;
    uint32_t reserved;
    _Atomic uint64_t count, graph_count; /* all; the replayed ones among them */
};
#define LEDGER_KEY_BYTES 56 /* function … reserved identify the record */

struct ledger_page {
    uint64_t next;
    _Atomic uint32_t used;
    uint32_t reserved;
    struct ledger_launch launches[LEDGER_PAGE_COUNT];
};

struct ledger_fault {
    uint64_t next;
    char text[]; /* ended by NUL */
};

#endif
