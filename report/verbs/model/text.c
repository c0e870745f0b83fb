/* Figures for people. */
#include "verbs/model/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number_text.h"

enum { PARAGRAPH_COLUMNS = 100 };

const char *text_percent(double fraction, char text[MODEL_TEXT_BYTES])
{
    double tenths = round(fraction * 1000);
    if (fraction < 1 && tenths >= 1000) {
        snprintf(text, MODEL_TEXT_BYTES, ">99.9 %%");
    } else if (fraction > 0 && tenths <= 0) {
        snprintf(text, MODEL_TEXT_BYTES, "<0.1 %%");
    } else {
        snprintf(text, MODEL_TEXT_BYTES, fmod(tenths, 10) == 0 ? "%.0f %%" : "%.1f %%", tenths / 10);
    }
    return text;
}

const char *text_count(uint64_t count, char text[MODEL_TEXT_BYTES])
{
    char digits[NUMBER_TEXT_BYTES];
    size_t length = integer_text((int64_t)count, digits), used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = 0;
    return text;
}

const char *text_counted(uint64_t count, const char *noun, char text[MODEL_TEXT_BYTES])
{
    text_count(count, text);
    size_t used = strlen(text);
    snprintf(text + used, MODEL_TEXT_BYTES - used, " %s%s", noun, count == 1 ? "" : "s");
    return text;
}

const char *text_capability(int compute_capability, char text[MODEL_TEXT_BYTES])
{
    snprintf(text, MODEL_TEXT_BYTES, "%d.%d", compute_capability / 10, compute_capability % 10);
    return text;
}

/* Characters, not bytes: of UTF-8 every byte but the continuing ones. */
static size_t columns_of(const char *word, size_t bytes)
{
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++) {
        columns += ((unsigned char)word[i] & 0xc0) != 0x80;
    }
    return columns;
}

/* Up to the next blank; a percent sign stays with its number. */
static size_t word_bytes(const char *word)
{
    size_t bytes = strcspn(word, " ");
    return strncmp(word + bytes, " %", 2) == 0 ? bytes + 2 + strcspn(word + bytes + 2, " ") : bytes;
}

void text_paragraph(const char *paragraph, FILE *stream)
{
    static const char indent[] = "  ";
    size_t column = 0;
    for (const char *word = paragraph; *word;) {
        size_t bytes = word_bytes(word), columns = columns_of(word, bytes);
        if (column && column + 1 + columns > PARAGRAPH_COLUMNS) {
            fprintf(stream, "\n%s", indent);
            column = strlen(indent);
        } else if (column) {
            fputc(' ', stream);
            column++;
        }
        fwrite(word, 1, bytes, stream);
        column += columns;
        word += bytes + (word[bytes] == ' ');
    }
    fputc('\n', stream);
}
