/* Strings, arrays and objects around the numbers of a buffer. */
#include "json_text.h"

#include <stdlib.h>
#include <string.h>

#include "names/visible.h"

/* --- strings ------------------------------------------------------------------------------------------- */

static bool stands_for_itself(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

static void append_escaped(struct buffer *text, char c)
{
    char escape[8];
    if (c == '"' || c == '\\') {
        snprintf(escape, sizeof escape, "\\%c", c);
    } else {
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)c);
    }
    buffer_puts(text, escape);
}

/* `utf8` is valid. */
static void append_quoted(struct buffer *text, const char *utf8)
{
    buffer_char(text, '"');
    for (const char *at = utf8; *at;) {
        const char *from = at;
        while (*at && stands_for_itself(*at)) {
            at++;
        }
        buffer_append(text, from, (size_t)(at - from));
        if (*at) {
            append_escaped(text, *at++);
        }
    }
    buffer_char(text, '"');
}

static bool is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80) {
        text++;
    }
    return *text == '\0';
}

void json_string(struct buffer *text, const char *string)
{
    char *valid = is_ascii(string) ? NULL : valid_utf8(string);
    if (valid || is_ascii(string)) {
        append_quoted(text, valid ? valid : string);
    } else {
        text->failed = true;
    }
    free(valid);
}

/* --- values -------------------------------------------------------------------------------------------- */

static void append_triple(struct buffer *text, const uint32_t triple[3])
{
    for (int axis = 0; axis < 3; axis++) {
        buffer_char(text, axis ? ',' : '[');
        buffer_unsigned(text, triple[axis]);
    }
    buffer_char(text, ']');
}

static void append_names(struct buffer *text, const struct value *value)
{
    char joint = '[';
    for (unsigned i = 0; i < value->set.count; i++) {
        if (value->set.bits >> i & 1) {
            buffer_char(text, joint);
            append_quoted(text, value->set.names[i]);
            joint = ',';
        }
    }
    buffer_puts(text, joint == '[' ? "[]" : "]");
}

void json_value(struct buffer *text, const struct merged *merged, const struct value *value)
{
    switch (value->kind) {
    case VALUE_TEXT:
        json_string(text, value->text);
        break;
    case VALUE_UNSIGNED:
        buffer_unsigned(text, value->unsigned_number);
        break;
    case VALUE_SIGNED:
        buffer_signed(text, value->signed_number);
        break;
    case VALUE_NUMBER:
    case VALUE_FRACTION:
        buffer_number(text, value->number);
        break;
    case VALUE_BOOLEAN:
        buffer_puts(text, value->truth ? "true" : "false");
        break;
    case VALUE_TRIPLE:
        append_triple(text, value->triple);
        break;
    case VALUE_NAMES:
        append_names(text, value);
        break;
    case VALUE_OBJECT:
        json_object(text, merged, value->object.fields, value->object.record, false);
        break;
    case VALUE_NONE:
        buffer_puts(text, "null");
    }
}

void json_object(struct buffer *text, const struct merged *merged, enum record record, const void *it,
                 bool open)
{
    char room[FIELD_TEXT_BYTES];
    char joint = '{';
    for (const struct field *field = fields_of(record); field->name; field++) {
        struct value value = field->get(merged, it, room);
        buffer_char(text, joint);
        append_quoted(text, field->name);
        buffer_char(text, ':');
        json_value(text, merged, &value);
        joint = ',';
    }
    if (!open) {
        buffer_char(text, '}');
    }
}
