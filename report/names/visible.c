/* Walks text character by character and spells out what must not be taken at its word. */
#include "visible.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uint32_t first, last;
};

/* Controls, marks that reorder or hide text, separators that break lines, tags, and what is no character. */
static const struct range hidden[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x034f, 0x034f},    {0x061c, 0x061c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},    {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xd800, 0xf8ff}, {0xfe00, 0xfe0f},    {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff},
};
static const struct range combining[] = {
    {0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}};
static const struct range wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                    {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                    {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x20000, 0x3fffd}};

static bool in_ranges(uint32_t character, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count && ranges[i].first <= character; i++) {
        if (character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}
#define IN(character, ranges) in_ranges(character, ranges, sizeof(ranges) / sizeof *(ranges))

/* The length of the UTF-8 character at `text`, 0 if it is none. Overlong forms and surrogates are none. */
static size_t decode(const unsigned char *text, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 : *text >> 3 == 30 ? 4 : 0;
    if (length <= 1) {
        *character = *text;
        return length;
    }
    uint32_t value = *text & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2) {
            return 0;
        }
        value = value << 6 | (text[i] & 0x3f);
    }
    *character = value;
    return value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0 : length;
}

/* Writes at most 10 bytes; returns their number and moves *text on. */
static size_t spell(const unsigned char **text, bool keep_hidden, char out[11])
{
    uint32_t character;
    size_t length = decode(*text, &character);
    if (length == 0) {
        return (size_t)snprintf(out, 11, "\\x%02x", *(*text)++);
    }
    const unsigned char *start = *text;
    *text += length;
    if (keep_hidden || !IN(character, hidden)) {
        memcpy(out, start, length);
        return length;
    }
    const char *format = character < 0x80 ? "\\x%02x" : character < 0x10000 ? "\\u%04x" : "\\U%08x";
    return (size_t)snprintf(out, 11, format, character);
}

static char *respell(const char *text, bool keep_hidden)
{
    char *result = malloc(4 * strlen(text) + 11), *end = result;
    const unsigned char *at = (const unsigned char *)text;
    while (result && *at) {
        end += spell(&at, keep_hidden, end);
    }
    if (result) {
        *end = '\0';
    }
    return result;
}

char *visible(const char *text)
{
    return respell(text, false);
}

char *valid_utf8(const char *text)
{
    return respell(text, true);
}

bool is_visible(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        uint32_t character;
        size_t length = decode(at, &character);
        if (length == 0 || IN(character, hidden)) {
            return false;
        }
        at += length;
    }
    return true;
}

static size_t columns_of(uint32_t character)
{
    return character < 0x300 ? 1 : IN(character, combining) ? 0 : IN(character, wide) ? 2 : 1;
}

size_t visible_bytes_within(const char *text, size_t columns)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        uint32_t character;
        size_t length = decode(at, &character), needed = columns_of(character);
        if (needed > columns) {
            break;
        }
        columns -= needed;
        at += length ? length : 1;
    }
    return (size_t)(at - (const unsigned char *)text);
}

size_t visible_columns(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t columns = 0;
    while (*at) {
        uint32_t character = 0;
        size_t length = decode(at, &character);
        columns += columns_of(character);
        at += length ? length : 1;
    }
    return columns;
}
