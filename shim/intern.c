/* One arena of texts; a text's number is its offset. */
#include "intern.h"

#include <string.h>

#include "index.h"
#include "memory.h"

enum { ARENA_BYTES = 16 << 20 };

static char *arena;
static uint32_t used = 1; /* offset 0 is the empty text */

static uint32_t hash_text(uint32_t number)
{
    return index_hash(arena + number, strlen(arena + number), 2);
}

static bool same_text(uint32_t number, const void *wanted)
{
    return strcmp(arena + number, wanted) == 0;
}

static struct index texts = {.hash_of = hash_text, .equal = same_text};

uint32_t intern(const char *text)
{
    size_t bytes = text ? strlen(text) : 0;
    arena = arena || bytes == 0 ? arena : memory_map(ARENA_BYTES);
    if (bytes == 0 || arena == NULL) {
        return 0;
    }
    uint32_t hash = index_hash(text, bytes, 2), number = index_find(&texts, hash, text);
    if (number != INDEX_NONE) {
        return number;
    }
    if (bytes >= ARENA_BYTES - used) {
        return 0;
    }
    number = used;
    memcpy(arena + number, text, bytes + 1);
    used += (uint32_t)bytes + 1;
    return index_insert(&texts, hash, number) ? number : 0;
}

const char *interned(uint32_t number)
{
    return number ? arena + number : "";
}
