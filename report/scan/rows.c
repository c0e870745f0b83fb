/* Names and block sizes of a library's kernels take as long as its unpacking, so they are shared out too:
 * each thread renders a few hundred rows into memory, then all are written. */
#include "rows.h"

#include <pthread.h>
#include <stdlib.h>

#include "jobs.h"

#define ROWS_PER_CHUNK 512

struct chunk {
    const struct scan_view *view;
    const struct scan_file *file;
    scan_row_writer *write;
    size_t first, end;
    char *text; /* NULL: no memory for it */
    size_t bytes;
    pthread_t thread;
    bool started;
};

static void write_rows(FILE *stream, const struct chunk *chunk)
{
    for (size_t i = chunk->first; i < chunk->end; i++) {
        chunk->write(stream, chunk->view, chunk->file, i);
    }
}

static void *render(void *argument)
{
    struct chunk *chunk = argument;
    FILE *stream = open_memstream(&chunk->text, &chunk->bytes);
    if (!stream) {
        return NULL;
    }
    write_rows(stream, chunk);
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(chunk->text);
        chunk->text = NULL;
    }
    return NULL;
}

static void emit(struct chunk *chunk)
{
    if (chunk->started) {
        pthread_join(chunk->thread, NULL);
    }
    if (chunk->text) {
        fwrite(chunk->text, 1, chunk->bytes, chunk->view->stream);
        free(chunk->text);
    } else {
        write_rows(chunk->view->stream, chunk);
    }
}

/* One chunk for each processor; the last is this thread's own. The first row of the next wave. */
static size_t write_wave(const struct chunk *all, size_t first, unsigned processors)
{
    struct chunk chunks[SCAN_PROCESSORS_MOST];
    unsigned count = 0;
    for (; count < processors && first < all->end; count++) {
        chunks[count] = *all;
        chunks[count].first = first;
        first = all->end - first > ROWS_PER_CHUNK ? first + ROWS_PER_CHUNK : all->end;
        chunks[count].end = first;
    }
    for (unsigned i = 0; i + 1 < count; i++) {
        chunks[i].started = pthread_create(&chunks[i].thread, NULL, render, &chunks[i]) == 0;
    }
    if (count > 1) {
        render(&chunks[count - 1]);
    }
    for (unsigned i = 0; i < count; i++) {
        emit(&chunks[i]);
    }
    return first;
}

void scan_rows_write(const struct scan_view *view, const struct scan_file *file, scan_row_writer *write)
{
    struct chunk all = {.view = view, .file = file, .write = write, .end = file->kernels_count};
    unsigned processors = scan_processors();
    for (size_t first = 0; first < all.end;) {
        first = write_wave(&all, first, processors);
    }
}
