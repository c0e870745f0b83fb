/* Entry functions of PTX: what a text says about a kernel before any assembler has seen it. */
#include "cubin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Words longer than this are cut: no directive is, and the driver's own limit for names is lower. */
#define WORD_MOST_BYTES (32u << 10)

struct ptx {
    const char *at, *end;
    char *word; /* the last word read, terminated */
    struct cubin_parameter *parameters;
};

/* White space, comments and strings; true if anything was there. */
static bool skip_filling(struct ptx *ptx)
{
    const char *rest = ptx->at;
    size_t left = (size_t)(ptx->end - rest);
    if (left && isspace((unsigned char)*rest)) {
        ptx->at++;
        return true;
    }
    const char *close = NULL;
    size_t close_bytes = 1;
    if (left >= 2 && rest[0] == '/' && rest[1] == '/') {
        close = memchr(rest, '\n', left);
    } else if (left >= 2 && rest[0] == '/' && rest[1] == '*') {
        close = memmem(rest + 2, left - 2, "*/", 2);
        close_bytes = 2;
    } else if (left && rest[0] == '"') {
        close = memchr(rest + 1, '"', left - 1);
    } else {
        return false;
    }
    ptx->at = close ? close + close_bytes : ptx->end;
    return true;
}

static bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* A directive with its dot, a name or a number into ptx->word; one character of punctuation otherwise; ""
 * at the end. */
static const char *next_word(struct ptx *ptx)
{
    size_t length = 0;
    while (skip_filling(ptx)) {
    }
    while (ptx->at < ptx->end && length < WORD_MOST_BYTES - 1 &&
           (is_word_character(*ptx->at) || (length == 0 && *ptx->at == '.'))) {
        ptx->word[length++] = *ptx->at++;
    }
    if (length == 0 && ptx->at < ptx->end) {
        ptx->word[length++] = *ptx->at++;
    }
    ptx->word[length] = 0;
    return ptx->word;
}

static bool next_is(struct ptx *ptx, char punctuation)
{
    while (skip_filling(ptx)) {
    }
    return ptx->at < ptx->end && *ptx->at == punctuation;
}

static uint32_t next_number(struct ptx *ptx)
{
    unsigned long number = strtoul(next_word(ptx), NULL, 0);
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

/* ".u64" has 8 bytes, ".f16x2" 4; references to textures and the like are handles of 8. */
static uint32_t type_bytes(const char *type)
{
    const char *digits = type + strcspn(type, "0123456789");
    char *rest;
    unsigned long bits = strtoul(digits, &rest, 10);
    if (*rest == 'x') {
        bits *= strtoul(rest + 1, NULL, 10);
    }
    return bits >= 8 && bits <= 1024 ? (uint32_t)bits / 8 : 8;
}

/* One declaration up to `,` or `)`: ".param .align 8 .b8 name[24]" or ".param .u64 .ptr .global .align 16
 * name". */
static struct cubin_parameter read_parameter(struct ptx *ptx, uint32_t *align)
{
    uint32_t element_bytes = 0, count = 1;
    bool pointer = false;
    *align = 0;
    while (!next_is(ptx, ',') && !next_is(ptx, ')') && *next_word(ptx)) {
        if (strcmp(ptx->word, ".align") == 0) {
            uint32_t bytes = next_number(ptx);
            *align = pointer ? *align : bytes;
        } else if (strcmp(ptx->word, ".ptr") == 0) {
            pointer = true;
        } else if (strcmp(ptx->word, "[") == 0) {
            count = next_number(ptx);
        } else if (ptx->word[0] == '.' && strcmp(ptx->word, ".param") != 0 && !pointer) {
            element_bytes = type_bytes(ptx->word);
        }
    }
    *align = *align ? *align : element_bytes ? element_bytes : 1;
    return (struct cubin_parameter){.bytes = element_bytes * count};
}

static enum cubin_status read_parameters(struct ptx *ptx, struct cubin_kernel *kernel)
{
    kernel->valid |= CUBIN_HAS_PARAMETERS;
    while (!next_is(ptx, ')')) {
        uint32_t align;
        struct cubin_parameter parameter = read_parameter(ptx, &align);
        parameter.offset = (kernel->parameter_bytes + align - 1) / align * align;
        if (kernel->parameters_count == CUBIN_MAX_PARAMETERS || ptx->at == ptx->end) {
            return CUBIN_MALFORMED;
        }
        ptx->parameters[kernel->parameters_count++] = parameter;
        kernel->parameter_bytes = parameter.offset + parameter.bytes;
        if (next_is(ptx, ',')) {
            ptx->at++;
        }
    }
    ptx->at++;
    return CUBIN_OK;
}

/* ".maxntid 128, 2": one to three numbers, the rest is 1. */
static void read_triple(struct ptx *ptx, uint32_t triple[3], struct cubin_kernel *kernel, uint32_t valid)
{
    triple[0] = next_number(ptx);
    triple[1] = triple[2] = 1;
    for (int i = 1; i < 3 && next_is(ptx, ','); i++) {
        ptx->at++;
        triple[i] = next_number(ptx);
    }
    kernel->valid |= valid;
}

static void read_directive(struct ptx *ptx, struct cubin_kernel *kernel)
{
    if (strcmp(ptx->word, ".maxntid") == 0) {
        read_triple(ptx, kernel->max_threads, kernel, CUBIN_HAS_MAX_THREADS);
    } else if (strcmp(ptx->word, ".reqntid") == 0) {
        read_triple(ptx, kernel->required_block, kernel, CUBIN_HAS_REQUIRED_BLOCK);
    } else if (strcmp(ptx->word, ".reqnctapercluster") == 0) {
        read_triple(ptx, kernel->cluster, kernel, CUBIN_HAS_CLUSTER);
    } else if (strcmp(ptx->word, ".maxclusterrank") == 0) {
        kernel->max_cluster_rank = next_number(ptx);
        kernel->valid |= CUBIN_HAS_MAX_CLUSTER_RANK;
    } else if (strcmp(ptx->word, ".maxnreg") == 0) {
        kernel->max_registers = next_number(ptx);
    } else if (strcmp(ptx->word, ".blocksareclusters") == 0) {
        kernel->blocks_are_clusters = true;
    }
}

/* After ".entry": CUBIN_STOPPED for a declaration without a body, which is no kernel. `name` outlives the
 * words that follow it and is the caller's to free. */
static enum cubin_status read_entry(struct ptx *ptx, struct cubin_kernel *kernel, char **name)
{
    *kernel = (struct cubin_kernel){.parameters = ptx->parameters};
    *name = strdup(next_word(ptx));
    kernel->name = *name;
    if (!*name) {
        return CUBIN_NO_MEMORY;
    }
    if (next_is(ptx, '(')) {
        ptx->at++;
        enum cubin_status status = read_parameters(ptx, kernel);
        if (status != CUBIN_OK) {
            return status;
        }
    }
    for (const char *word = next_word(ptx); *word != '{'; word = next_word(ptx)) {
        if (!*word) {
            return CUBIN_TRUNCATED;
        }
        if (*word == ';') {
            return CUBIN_STOPPED;
        }
        read_directive(ptx, kernel);
    }
    return CUBIN_OK;
}

/* ".target sm_90a, debug" */
static void read_target(struct ptx *ptx, struct cubin_info *info)
{
    const char *word = next_word(ptx);
    if (strncmp(word, "sm_", 3) != 0) {
        return;
    }
    char *rest;
    info->sm = (uint32_t)strtoul(word + 3, &rest, 10);
    info->variant = *rest == 'a' || *rest == 'f' ? *rest : 0;
}

bool ptx_is_text(const char *text, size_t size)
{
    static const char first[] = ".version";
    struct ptx ptx = {.at = text, .end = text + strnlen(text, size)};
    while (skip_filling(&ptx)) {
    }
    return (size_t)(ptx.end - ptx.at) > sizeof first && memcmp(ptx.at, first, sizeof first - 1) == 0;
}

/* The next place of the directive's letters, be it in a comment; the end if there is none. */
static const char *find_letters(const struct ptx *ptx, const char *directive)
{
    const char *found = memmem(ptx->at, (size_t)(ptx->end - ptx->at), directive, strlen(directive));
    return found ? found : ptx->end;
}

/* Over comments and strings, to `to` or past it. */
static void skip_towards(struct ptx *ptx, const char *to)
{
    while (ptx->at < to) {
        if ((*ptx->at != '/' && *ptx->at != '"') || !skip_filling(ptx)) {
            ptx->at++;
        }
    }
}

/* Up to and past the next directive of that name. */
static bool seek(struct ptx *ptx, const char *directive)
{
    size_t length = strlen(directive);
    for (const char *found; (found = find_letters(ptx, directive)) < ptx->end;) {
        skip_towards(ptx, found);
        if (ptx->at == found) {
            ptx->at += length;
            if (ptx->at < ptx->end && !is_word_character(*ptx->at) && *ptx->at != '.') {
                return true;
            }
        }
    }
    return false;
}

static enum cubin_status visit_entries(struct ptx *ptx, cubin_visitor visit, void *context)
{
    while (seek(ptx, ".entry")) {
        struct cubin_kernel kernel;
        char *name;
        enum cubin_status status = read_entry(ptx, &kernel, &name);
        bool stop = status == CUBIN_OK && !visit(&kernel, context);
        free(name);
        if (stop || (status != CUBIN_OK && status != CUBIN_STOPPED)) {
            return stop ? CUBIN_STOPPED : status;
        }
    }
    return CUBIN_OK;
}

enum cubin_status ptx_read(const char *text, size_t size, struct cubin_info *info, cubin_visitor visit,
                           void *context)
{
    struct ptx ptx = {
        .at = text,
        .end = text + strnlen(text, size),
        .word = malloc(WORD_MOST_BYTES),
        .parameters = malloc(CUBIN_MAX_PARAMETERS * sizeof *ptx.parameters),
    };
    enum cubin_status status = CUBIN_NO_MEMORY;
    if (ptx.word && ptx.parameters) {
        struct cubin_info found = {.address64 = true};
        if (seek(&ptx, ".target")) {
            read_target(&ptx, &found);
        }
        if (info) {
            *info = found;
        }
        status = found.sm == 0 ? CUBIN_MALFORMED : visit ? visit_entries(&ptx, visit, context) : CUBIN_OK;
    }
    free(ptx.word);
    free(ptx.parameters);
    return status;
}
