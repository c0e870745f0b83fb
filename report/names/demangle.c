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

/* What a short name spends on the template arguments of the kernel, and on those of one argument: as much as
 * tells reduce<256, float> and elementwise<4, FillFunctor<float>, ...> from their kin. */
#define SHORT_ARGUMENTS_BYTES 64
#define SHORT_NESTED_BYTES    24

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

/* The length of "operator<<" and kin at `at`, whose brackets enclose nothing; 0 if there is none. */
static size_t operator_length(const char *at)
{
    static const char word[] = "operator";
    if (strncmp(at, word, sizeof word - 1) != 0) {
        return 0;
    }
    return sizeof word - 1 + strspn(at + sizeof word - 1, "<>=-");
}

/* Past one character, or past all of an operator or arrow. Keeps count of the brackets that are open. */
static const char *skip_one(const char *at, int *angles, int *parentheses)
{
    size_t operator_bytes = operator_length(at);
    if (operator_bytes || strncmp(at, "->", 2) == 0) {
        return at + (operator_bytes ? operator_bytes : 2);
    }
    *parentheses += (*at == '(') - (*at == ')');
    if (*parentheses == 0) {
        *angles += (*at == '<') - (*at == '>');
    }
    return at + 1;
}

/* The `,` or `>` that ends the template argument at `at`; NULL if neither comes. */
static const char *argument_end(const char *at)
{
    int angles = 0, parentheses = 0;
    while (*at && (angles > 0 || parentheses > 0 || (*at != ',' && *at != '>'))) {
        at = skip_one(at, &angles, &parentheses);
    }
    return *at ? at : NULL;
}

static void append_folded(struct text *text, const char *at, const char *end, size_t most_bytes);

static void append_argument(struct text *text, const char *at, const char *end, size_t most_bytes)
{
    struct text folded = {0};
    append_folded(&folded, at, end, SHORT_NESTED_BYTES);
    while (folded.length > 0 && folded.bytes[folded.length - 1] == ' ') {
        folded.length--;
    }
    if (folded.length <= most_bytes) {
        text_append(text, folded.bytes, folded.length);
    } else {
        text_append(text, "...", 3);
    }
    free(folded.bytes);
}

/* From `<` to behind its `>`: the arguments that fit, then an ellipsis for the rest. */
static const char *fold_arguments(const char *at, struct text *text, size_t most_bytes)
{
    size_t start = text->length;
    bool full = false;
    for (const char *end; (end = argument_end(at + 1)) != NULL; at = end) {
        size_t used = text->length - start;
        if (!full) {
            text_append(text, *at == '<' ? "<" : ", ", *at == '<' ? 1 : 2);
            append_argument(text, at + 1 + (at[1] == ' '), end, most_bytes > used ? most_bytes - used : 0);
            full = text->length >= 3 && strcmp(text->bytes + text->length - 3, "...") == 0;
        }
        if (*end == '>') {
            text_append(text, ">", 1);
            return end + 1;
        }
    }
    text_append(text, at, strlen(at));
    return at + strlen(at);
}

/* Words that say nothing about the kernel: 0 if there is none at `at`. */
static size_t noise_length(const char *at)
{
    static const char anonymous[] = "(anonymous namespace)::", tag[] = "[abi:";
    if (strncmp(at, anonymous, sizeof anonymous - 1) == 0) {
        return sizeof anonymous - 1;
    }
    const char *tag_end = strncmp(at, tag, sizeof tag - 1) == 0 ? strchr(at, ']') : NULL;
    return tag_end ? (size_t)(tag_end - at) + 1 : 0;
}

static void append_folded(struct text *text, const char *at, const char *end, size_t most_bytes)
{
    text_append(text, "", 0);
    while (at < end && !text->failed) {
        size_t noise_bytes = noise_length(at), operator_bytes = operator_length(at);
        if (*at == '<') {
            at = fold_arguments(at, text, most_bytes);
        } else if (noise_bytes) {
            at += noise_bytes;
        } else {
            size_t bytes = operator_bytes ? operator_bytes : 1;
            text_append(text, at, bytes);
            at += bytes;
        }
    }
}

static char *fold(const char *name)
{
    struct text text = {0};
    append_folded(&text, name, name + strlen(name), SHORT_ARGUMENTS_BYTES);
    if (text.failed) {
        free(text.bytes);
        return NULL;
    }
    return text.bytes;
}

static char *demangle_to(const char *mangled, char *form(const char *))
{
    mangled = skip_static_prefix(mangled);
    char *name = demangle(mangled, 0);
    char *formed = name ? form(name) : strdup(mangled);
    free(name);
    return formed;
}

char *demangle_short(const char *mangled)
{
    return demangle_to(mangled, shorten_name);
}

char *demangle_qualified(const char *mangled)
{
    return demangle_to(mangled, fold);
}
