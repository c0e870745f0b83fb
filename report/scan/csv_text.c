/* Quotes doubled, and what a terminal or spreadsheet would obey spelled out. */
#include "csv_text.h"

#include <stdlib.h>
#include <string.h>

#include "report/names/visible.h"

void csv_text(FILE *stream, const char *text)
{
    char *shown = visible(text);
    fputc('"', stream);
    for (const char *rest = shown ? shown : ""; *rest;) {
        size_t length = strcspn(rest, "\"");
        fwrite(rest, 1, length, stream);
        rest += length;
        if (*rest) {
            fputs("\"\"", stream);
            rest++;
        }
    }
    fputc('"', stream);
    free(shown);
}
