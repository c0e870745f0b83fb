/* A file read by pread alone: a mapping would turn a file that shrinks meanwhile into SIGBUS. */
#ifndef WARPWATCH_FILE_READER_H
#define WARPWATCH_FILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_reader {
    int fd;
    uint64_t size;
    unsigned char *window;
    size_t window_capacity, window_bytes;
    uint64_t window_offset;
    bool failed; /* a read within the size of the file as it was opened did not succeed */
};

/* NULL, or why not. */
const char *file_reader_open(struct file_reader *reader, const char *path);
void file_reader_close(struct file_reader *reader);

/* `bytes` bytes at `offset` (at least one), valid until the next call; NULL past the end, on an error or
 * without memory. */
const unsigned char *file_reader_at(struct file_reader *reader, uint64_t offset, size_t bytes);

/* The whole range or false: the file may have been cut meanwhile. Safe from several threads. */
bool file_read_range(int fd, void *out, size_t bytes, uint64_t offset);

#endif
