/* Reads a demangled name from left to right, brackets as units; nothing here fails on text that is no C++. */
#include "shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MOST = 4, ARGUMENT_MOST_BYTES = 80, OPAQUE_DIGITS = 10 };

struct span {
    const char *at, *end;
};

/* --- units ------------------------------------------------------------------------------------------------
 */

static bool starts_with(struct span text, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(text.end - text.at) >= length && memcmp(text.at, word, length) == 0;
}

/* "operator<<", "operator()", "->": their brackets enclose nothing. */
static const char *skip_operator(struct span text)
{
    if (starts_with(text, "->")) {
        return text.at + 2;
    }
    if (!starts_with(text, "operator")) {
        return text.at;
    }
    const char *at = text.at + sizeof "operator" - 1;
    if (starts_with((struct span){at, text.end}, "()") || starts_with((struct span){at, text.end}, "[]")) {
        return at + 2;
    }
    while (at < text.end && strchr("<>=-", *at)) {
        at++;
    }
    return at;
}

static bool opens(char c)
{
    return c == '<' || c == '(' || c == '{' || c == '[';
}

static bool closes(char c)
{
    return c == '>' || c == ')' || c == '}' || c == ']';
}

/* Past one unit: a character, an operator, or a bracket with all it encloses. */
static const char *skip_unit(struct span text)
{
    const char *at = skip_operator(text);
    if (at > text.at || !opens(*at)) {
        return at > text.at ? at : at + 1;
    }
    for (int depth = 0; at < text.end;) {
        const char *behind = skip_operator((struct span){at, text.end});
        if (behind > at) {
            at = behind;
            continue;
        }
        depth += opens(*at) - closes(*at);
        at++;
        if (depth <= 0) {
            break;
        }
    }
    return at;
}

/* --- the last name of a qualified one ----------------------------------------------------------------------
 */

struct name {
    struct span base;      /* without template arguments */
    struct span arguments; /* what is between its angle brackets; empty without */
};

static bool is_callable(struct span base)
{
    return base.at == base.end || *base.at == '{' || *base.at == '(' || starts_with(base, "operator");
}

static struct span trim(struct span text)
{
    while (text.at < text.end && *text.at == ' ') {
        text.at++;
    }
    while (text.at < text.end && (text.end[-1] == ' ' || text.end[-1] == '*' || text.end[-1] == '&')) {
        text.end--;
    }
    return text;
}

/* "a::f<1>(int)::{lambda()#1}::operator()() const" → f with its arguments: lambdas belong to the function
 * around. */
static struct name last_name(struct span text)
{
    struct name piece = {{text.at, NULL}, {NULL, NULL}}, best = {{text.at, text.at}, {NULL, NULL}};
    for (const char *at = text.at; at <= text.end;) {
        struct span rest = {at, text.end};
        bool ended = at == text.end || starts_with(rest, "::");
        if (!piece.base.end && (ended || (opens(*at) && at > piece.base.at) || starts_with(rest, " const"))) {
            piece.base.end = at;
        }
        if (ended) {
            best = is_callable(piece.base) && best.base.at < best.base.end ? best : piece;
            piece = (struct name){{at + 2, NULL}, {NULL, NULL}};
            at += 2;
            continue;
        }
        const char *next = skip_unit(rest);
        if (*at == '<' && !piece.arguments.at && next > at + 1) {
            piece.arguments = (struct span){at + 1, next - 1};
        }
        at = next;
    }
    best.base = trim(best.base);
    return best;
}

/* --- words ---------------------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_telling(struct span word)
{
    enum place { ANYWHERE, END };
    static const struct {
        const char *text;
        enum place place;
    } telling[] = {
#define TELLING(text, place) {text, place},
#include "telling.def"
#undef TELLING
    };
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
        size_t length = strlen(telling[i].text), bytes = (size_t)(word.end - word.at);
        if (telling[i].place == ANYWHERE
                ? memmem(word.at, bytes, telling[i].text, length) != NULL
                : bytes > length && !memcmp(word.end - length, telling[i].text, length)) {
            return true;
        }
    }
    return false;
}

/* The last such word: adaptors come before what they adapt. Empty without one. */
static struct span telling_word(struct span text)
{
    struct span found = {text.at, text.at};
    for (const char *at = text.at; at < text.end;) {
        struct span word = {at, at};
        while (word.end < text.end && is_word(*word.end)) {
            word.end++;
        }
        if (word.end > word.at && is_telling(word)) {
            found = word;
        }
        at = word.end > word.at ? word.end : at + 1;
    }
    return found;
}

static struct span next_argument(struct span *arguments)
{
    struct span argument = {arguments->at, arguments->at};
    while (argument.end < arguments->end && *argument.end != ',') {
        argument.end = skip_unit((struct span){argument.end, arguments->end});
    }
    arguments->at = argument.end < arguments->end ? argument.end + 1 : argument.end;
    return argument;
}

/* --- lambdas -------------------------------------------------------------------------------------------- */

/* Back over what a pair of brackets encloses, if one ends at `end`. */
static const char *skip_back(const char *begin, const char *end)
{
    const char *at = end;
    for (int depth = 0; at > begin;) {
        char c = at[-1];
        bool arrow = c == '>' && at - 1 > begin && at[-2] == '-';
        depth += arrow ? 0 : closes(c) - opens(c);
        if (depth == 0 && at == end) {
            return end;
        }
        at--;
        if (depth == 0) {
            return at;
        }
    }
    return end;
}

static bool ends_with(const char *begin, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - begin) >= length && memcmp(end - length, word, length) == 0;
}

/* The function around the first lambda:
 * "gpu_kernel_impl<f<int>(Iterator&)::{lambda()#1}>(…)::{lambda(int)#1}" → f. A functor names its operator().
 * Empty without a lambda. */
static struct span lambda_function(struct span text)
{
    static const char mark[] = "::{lambda", call[] = "::operator()", constant[] = " const";
    const char *end = memmem(text.at, (size_t)(text.end - text.at), mark, sizeof mark - 1);
    if (!end) {
        return (struct span){text.at, text.at};
    }
    end -= ends_with(text.at, end, constant) ? sizeof constant - 1 : 0;
    end = ends_with(text.at, end, ")") ? skip_back(text.at, end) : end;
    end -= ends_with(text.at, end, call) ? sizeof call - 1 : 0;
    end = ends_with(text.at, end, ">") ? skip_back(text.at, end) : end;
    const char *begin = end;
    while (begin > text.at && is_word(begin[-1])) {
        begin--;
    }
    return (struct span){begin, end};
}

/* Helpers that launch whatever they are given. */
static bool is_helper(struct span word)
{
    return starts_with(word, "gpu_kernel_impl") || word.at == word.end;
}

/* --- arguments ------------------------------------------------------------------------------------------ */

/* "enable_sm90<Gemm>" → Gemm */
static struct span word_of(struct span text)
{
    for (;;) {
        struct name name = last_name(text);
        struct span rest = name.arguments;
        if (!rest.at || !starts_with(name.base, "enable_")) {
            return name.base;
        }
        text = trim(next_argument(&rest));
    }
}

/* "&(float a::silu<float>(float const&))" → silu */
static struct span pointed_word(struct span argument)
{
    argument.at++;
    if (argument.at < argument.end && *argument.at == '(') {
        argument = (struct span){argument.at + 1, skip_unit(argument) - 1};
    }
    const char *name = argument.at, *end = argument.end;
    for (const char *at = argument.at; at < argument.end;) {
        end = *at == '(' && at > name ? at : argument.end;
        name = *at == ' ' ? at + 1 : name;
        at = skip_unit((struct span){at, argument.end});
    }
    return word_of((struct span){name, end});
}

/* "3ul" → "3", "(at::Mode)2" → "2", "at::Half const*" → "Half". */
static struct span argument_word(struct span argument)
{
    argument = trim(argument);
    if (argument.at < argument.end && *argument.at == '&') {
        return pointed_word(argument);
    }
    if (argument.at < argument.end && *argument.at == '(') {
        const char *value = skip_unit(argument);
        argument.at = value < argument.end ? value : argument.at;
    }
    if (argument.at < argument.end && (isdigit((unsigned char)*argument.at) || *argument.at == '-')) {
        while (argument.end > argument.at + 1 && (argument.end[-1] == 'u' || argument.end[-1] == 'l')) {
            argument.end--;
        }
        return argument;
    }
    return word_of(argument);
}

/* Numbers that nobody reads: types written as 64-bit values. */
static bool is_opaque(struct span word)
{
    return word.end - word.at > OPAQUE_DIGITS && isdigit((unsigned char)*word.at);
}

static void write_span(FILE *out, struct span text)
{
    size_t bytes = (size_t)(text.end - text.at);
    fwrite(text.at, 1, bytes < ARGUMENT_MOST_BYTES ? bytes : ARGUMENT_MOST_BYTES, out);
}

/* Applies an operation that the next argument names: multi_tensor_apply_kernel<…, UnaryOpFunctor<…>,
 * Sqrt<…>>. */
static bool applies_operation(struct span telling)
{
    return memmem(telling.at, (size_t)(telling.end - telling.at), "OpFunctor", 9) != NULL ||
           memmem(telling.at, (size_t)(telling.end - telling.at), "OpScalar", 8) != NULL ||
           memmem(telling.at, (size_t)(telling.end - telling.at), "OpList", 6) != NULL;
}

struct word {
    struct span text;
    bool tells; /* what is computed: nothing after it does */
};

static struct word word_for(struct span argument)
{
    struct span function = lambda_function(argument), telling = telling_word(argument);
    if (!is_helper(function)) {
        return (struct word){function, true};
    }
    if (telling.at < telling.end) {
        return (struct word){telling, !applies_operation(telling)};
    }
    return (struct word){function.at < function.end ? function : argument_word(argument), false};
}

/* Up to the one that says what is computed, else the first few. */
static void write_arguments(FILE *out, struct span arguments)
{
    unsigned written = 0;
    bool left_out = false, done = false;
    while (arguments.at < arguments.end && !done) {
        struct word word = word_for(next_argument(&arguments));
        done = word.tells;
        if (word.text.at == word.text.end || is_opaque(word.text) || (written >= ARGUMENTS_MOST && !done)) {
            left_out = true;
            continue;
        }
        fputs(written++ ? ", " : "<", out);
        write_span(out, word.text);
    }
    if (left_out && !done) {
        fputs(written++ ? ", ..." : "<...", out);
    }
    fputs(written ? ">" : "", out);
}

char *shorten_name(const char *name)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return NULL;
    }
    struct name last = last_name((struct span){name, name + strlen(name)});
    fwrite(last.base.at, 1, (size_t)(last.base.end - last.base.at), out);
    if (last.arguments.at) {
        write_arguments(out, last.arguments);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
