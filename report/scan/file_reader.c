/* Buffered pread. */
#include "file_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES 512 /* a header or two: payloads lie between them */

const char *file_reader_open(struct file_reader *reader, const char *path)
{
    *reader = (struct file_reader){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status;
    if (reader->fd < 0 || fstat(reader->fd, &status) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return "not a regular file";
    }
    reader->size = (uint64_t)status.st_size;
    return NULL;
}

void file_reader_close(struct file_reader *reader)
{
    if (reader->fd >= 0) {
        close(reader->fd);
    }
    free(reader->window);
}

bool file_read_range(int fd, void *out, size_t bytes, uint64_t offset)
{
    char *at = out;
    while (bytes > 0) {
        ssize_t got = pread(fd, at, bytes, (off_t)offset);
        if (got <= 0) {
            if (got < 0 && errno == EINTR) {
                continue;
            }
            return false;
        }
        at += got;
        bytes -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

static bool reserve_window(struct file_reader *reader, size_t bytes)
{
    if (bytes <= reader->window_capacity) {
        return true;
    }
    free(reader->window);
    reader->window = malloc(bytes);
    reader->window_capacity = reader->window ? bytes : 0;
    reader->window_bytes = 0;
    return reader->window != NULL;
}

const unsigned char *file_reader_at(struct file_reader *reader, uint64_t offset, size_t bytes)
{
    if (bytes == 0 || offset > reader->size || bytes > reader->size - offset) {
        return NULL;
    }
    if (offset < reader->window_offset || offset - reader->window_offset > reader->window_bytes ||
        bytes > reader->window_bytes - (offset - reader->window_offset)) {
        uint64_t rest = reader->size - offset;
        size_t wanted = bytes > WINDOW_BYTES ? bytes : WINDOW_BYTES;
        wanted = wanted > rest ? (size_t)rest : wanted;
        if (!reserve_window(reader, wanted) || !file_read_range(reader->fd, reader->window, wanted, offset)) {
            reader->window_bytes = 0;
            reader->failed = true;
            return NULL;
        }
        reader->window_offset = offset;
        reader->window_bytes = wanted;
    }
    return reader->window + (offset - reader->window_offset);
}
