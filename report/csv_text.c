/* Where a field needs quotes, and what becomes of those within. */
#include "csv_text.h"

#include <string.h>

void csv_quoted(struct buffer *row, const char *text)
{
    buffer_char(row, '"');
    for (const char *rest = text; *rest;) {
        size_t length = strcspn(rest, "\"");
        buffer_append(row, rest, length);
        rest += length;
        if (*rest) {
            buffer_puts(row, "\"\"");
            rest++;
        }
    }
    buffer_char(row, '"');
}

/* Blanks in front are lost on readers that trim what is not quoted. */
void csv_field(struct buffer *row, const char *text)
{
    size_t length = strlen(text);
    if (strcspn(text, ",\"\r\n") == length && text[0] != ' ' && text[0] != '\t') {
        buffer_append(row, text, length);
    } else {
        csv_quoted(row, text);
    }
}
