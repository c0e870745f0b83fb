/* How the 32 addresses of one memory instruction turn into work for the memory system: sectors and lines of
 * global memory, banks of shared memory. Explained in docs/coalescing.md and docs/banks.md. */
#ifndef WARPWATCH_ACCESS_H
#define WARPWATCH_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

enum { ACCESS_SECTOR_BYTES = 32, ACCESS_LINE_BYTES = 128, ACCESS_BANKS = 32, ACCESS_BANK_BYTES = 4 };

/* Lane i reads element_bytes at offset_bytes + i × stride × element_bytes; offset 0 starts a line. */
struct coalescing_request {
    uint64_t stride;        /* elements; 0: all lanes read the same one */
    uint64_t offset_bytes;  /* of the first lane */
    uint32_t element_bytes; /* 1 … 128 */
};

struct coalescing {
    unsigned sectors_per_request;
    unsigned lines_per_request;
    uint64_t bytes_requested; /* different bytes: a byte that several lanes read counts once */
    uint64_t bytes_moved;     /* whole sectors */
    double efficiency;        /* requested ÷ moved */
};

struct coalescing coalescing_compute(const struct coalescing_request *request);

/* Lane i reads word_bytes at i × stride × word_bytes. */
struct banks {
    unsigned conflict_degree; /* passes that the busiest group of lanes needs; 1: no conflict */
    unsigned lanes_per_pass; /* lanes served together: 32 words of 4 bytes, so 16 lanes of 8 bytes, 8 of 16 */
    bool broadcast;          /* several lanes read the same 4-byte word, which costs nothing */
};

/* word_bytes: 1, 2, 4, 8 or 16. */
struct banks banks_compute(uint64_t stride, unsigned word_bytes);

#endif
