/* A bump allocator in chunks; a large request gets a chunk of its own. */
#include "arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CHUNK_BYTES /* fuzzing takes smaller ones */
#define CHUNK_BYTES ((size_t)256 << 10)
#endif

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, capacity;
    alignas(max_align_t) unsigned char bytes[];
};

static struct arena_chunk *chunk_with_room(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = arena->chunks;
    if (chunk && chunk->capacity - chunk->used >= bytes) {
        return chunk;
    }
    size_t capacity = bytes > CHUNK_BYTES / 4 ? bytes : CHUNK_BYTES;
    struct arena_chunk *fresh = malloc(sizeof *fresh + capacity);
    if (!fresh) {
        return NULL;
    }
    fresh->used = 0;
    fresh->capacity = capacity;
    if (chunk && capacity == bytes) { /* keep the chunk that still has room in front */
        fresh->next = chunk->next;
        chunk->next = fresh;
    } else {
        fresh->next = chunk;
        arena->chunks = fresh;
    }
    return fresh;
}

void *arena_allocate(struct arena *arena, size_t bytes)
{
    const size_t alignment = alignof(max_align_t);
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    struct arena_chunk *chunk = rounded < bytes ? NULL : chunk_with_room(arena, rounded);
    if (!chunk) {
        return NULL;
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += rounded;
    return memory;
}

char *arena_copy(struct arena *arena, const char *text, size_t bytes)
{
    char *copy = arena_allocate(arena, bytes + 1);
    if (copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    return copy;
}

char *arena_print(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_allocate(arena, (size_t)length + 1);
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, arguments);
    }
    return text;
}

void arena_free(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}
