/* Memory that is given back all at once: names and sentences of a report. */
#ifndef WARPWATCH_ARENA_H
#define WARPWATCH_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena {
    struct arena_chunk *chunks;
};

/* NULL: out of memory. Aligned for any type. */
void *arena_allocate(struct arena *arena, size_t bytes);
char *arena_copy(struct arena *arena, const char *text, size_t bytes);
char *arena_print(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void arena_free(struct arena *arena);

#endif
