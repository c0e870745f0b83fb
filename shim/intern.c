/* Texts lie in chunks and never move. A text's number is its offset, counted over all chunks. */
#include "intern.h"

#include <string.h>

#include "index.h"
#include "memory.h"

enum { CHUNK_BYTES = 1 << 20, CHUNKS = 16 };

static char *chunks[CHUNKS];
static uint32_t used = 1; /* offset 0 is the empty text */

static char *text_at(uint32_t number)
{
    return chunks[number / CHUNK_BYTES] + number % CHUNK_BYTES;
}

static uint32_t hash_text(uint32_t number)
{
    return index_hash(text_at(number), strlen(text_at(number)), 2);
}

static bool same_text(uint32_t number, const void *wanted)
{
    return strcmp(text_at(number), wanted) == 0;
}

static struct index texts = {.hash_of = hash_text, .equal = same_text};

/* Room for a text that does not cross from one chunk to the next; 0 if there is none. */
static uint32_t room(size_t bytes)
{
    if (bytes > CHUNK_BYTES) {
        return 0;
    }
    if (used % CHUNK_BYTES + bytes > CHUNK_BYTES) {
        used = (uint32_t)round_up(used, CHUNK_BYTES);
    }
    uint32_t chunk = used / CHUNK_BYTES;
    if (chunk >= CHUNKS) {
        return 0;
    }
    chunks[chunk] = chunks[chunk] ? chunks[chunk] : memory_map(CHUNK_BYTES);
    return chunks[chunk] ? used : 0;
}

uint32_t intern(const char *text)
{
    size_t bytes = text ? strlen(text) : 0;
    if (bytes == 0) {
        return 0;
    }
    uint32_t hash = index_hash(text, bytes, 2), number = index_find(&texts, hash, text);
    if (number != INDEX_NONE) {
        return number;
    }
    number = room(bytes + 1);
    if (number == 0) {
        return 0;
    }
    memcpy(text_at(number), text, bytes + 1);
    used += (uint32_t)bytes + 1;
    return index_insert(&texts, hash, number) ? number : 0;
}

const char *interned(uint32_t number)
{
    return number ? text_at(number) : "";
}
