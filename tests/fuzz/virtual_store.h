/* Stores that exist only in memory, at paths that the reader opens as files (see the wraps in `run`):
 * no system call, and no padding in the input, so that a run takes microseconds.
 *
 * Input: one byte of enum virtual_mode, then stores. A store is a header, then extents, each the 64 bytes of
 * struct store_extent and its records, which the file has at multiples of STORE_BLOCK_BYTES. Four zero bytes
 * in place of an extent end the store; the next follows. tests/fuzz/compact.py makes it from files. */
#ifndef WARPWATCH_VIRTUAL_STORE_H
#define WARPWATCH_VIRTUAL_STORE_H

#include <stddef.h>
#include <stdint.h>

enum virtual_mode {
    VIRTUAL_WHOLE_CHAIN = 1, /* extents are given the sizes that lead from one to the next */
    VIRTUAL_CHECKS = 2       /* `check` fields are made right, so that what they guard is reached as well */
};

enum { VIRTUAL_STORES_MAX = 6 };

/* How many stores there are now, at virtual_store_path(0) and so on; `bytes` is changed and must last. */
unsigned virtual_stores_open(uint8_t *bytes, size_t count);
void virtual_stores_close(void);
const char *virtual_store_path(unsigned number);

#endif
