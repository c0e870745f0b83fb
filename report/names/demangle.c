/* Kernel names as people write them: around libiberty's demangler, bounds and the short form. */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shorten.h"

/* Stack use grows with the name (measured: up to 350 bytes a character), output and time can grow
 * exponentially by substitutions. Kernel names of real libraries reach a few thousand characters. */
#define MANGLED_MOST_BYTES   (16u << 10)
#define DEMANGLED_MOST_BYTES (64u << 10)

struct text {
    char *bytes;
    size_t length, capacity;
    bool failed;
    jmp_buf too_long;
};

static void text_append(struct text *text, const char *bytes, size_t length)
{
    if (text->length + length >= text->capacity) {
        size_t capacity = 2 * (text->length + length) + 64;
        char *grown = realloc(text->bytes, capacity);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

/* The demangler cannot be told to stop. It holds no heap memory while it calls back, so leaving by a jump
 * loses nothing. */
static void collect(const char *bytes, size_t length, void *context)
{
    struct text *text = context;
    if (text->length + length > DEMANGLED_MOST_BYTES) {
        longjmp(text->too_long, 1);
    }
    text_append(text, bytes, length);
}

static bool demangle_into(struct text *text, const char *mangled, int options)
{
    return setjmp(text->too_long) == 0 && cplus_demangle_v3_callback(mangled, options, collect, text) &&
           !text->failed;
}

/* NULL: not mangled, or out of bounds. */
static char *demangle(const char *mangled, int options)
{
    struct text text = {0};
    if (strncmp(mangled, "_Z", 2) != 0 || strlen(mangled) > MANGLED_MOST_BYTES) {
        return NULL;
    }
    if (!demangle_into(&text, mangled, options | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT)) {
        free(text.bytes);
        return NULL;
    }
    return text.bytes;
}

/* Relocatable code renames static kernels: __nv_static_<N>_<N characters>_<name>. */
static const char *skip_static_prefix(const char *name)
{
    static const char prefix[] = "__nv_static_";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return name;
    }
    char *end;
    const char *digits = name + sizeof prefix - 1;
    unsigned long length = strtoul(digits, &end, 10);
    if (end == digits || *end != '_' || strlen(end) < 3 || length > strlen(end) - 3 ||
        end[1 + length] != '_') {
        return name;
    }
    return end + 1 + length + 1;
}

char *demangle_full(const char *mangled)
{
    mangled = skip_static_prefix(mangled);
    char *name = demangle(mangled, DMGL_PARAMS);
    return name ? name : strdup(mangled);
}

char *demangle_name(const char *mangled)
{
    mangled = skip_static_prefix(mangled);
    char *name = demangle(mangled, 0);
    return name ? name : strdup(mangled);
}

char *demangle_short(const char *mangled)
{
    mangled = skip_static_prefix(mangled);
    char *name = demangle(mangled, 0);
    char *formed = name ? shorten_name(name) : strdup(mangled);
    free(name);
    return formed;
}
