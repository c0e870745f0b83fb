/* Quotes doubled, and what a terminal or spreadsheet would obey spelled out. */
#include "csv_text.h"

#include <stdlib.h>

#include "report/names/visible.h"

void csv_text(FILE *stream, const char *text)
{
    char *shown = visible(text);
    fputc('"', stream);
    for (const char *c = shown ? shown : ""; *c; c++) {
        fputs(*c == '"' ? "\"" : "", stream);
        fputc(*c, stream);
    }
    fputc('"', stream);
    free(shown);
}
