/* What the texts of a scan are put together from. */
#include "parts.h"

#include <stdlib.h>

#include "report/csv_text.h"
#include "report/names/visible.h"

#define COUNT_BYTES 32

static const char *format_count(char text[COUNT_BYTES], uint64_t number)
{
    char digits[COUNT_BYTES];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = 0;
    return text;
}

void print_count(FILE *stream, const char *format, uint64_t number)
{
    char text[COUNT_BYTES];
    fprintf(stream, format, format_count(text, number));
}

void print_counted(FILE *stream, uint64_t number, const char *noun)
{
    print_count(stream, "%s ", number);
    fprintf(stream, "%s%s", noun, number == 1 ? "" : "s");
}

void print_visible(FILE *stream, const char *text)
{
    char *safe = visible(text);
    fputs(safe ? safe : "?", stream);
    free(safe);
}

void print_quoted(FILE *stream, const char *text)
{
    struct buffer field = {0};
    char *safe = visible(text);
    csv_quoted(&field, safe ? safe : "?");
    buffer_flush(&field, stream);
    buffer_free(&field);
    free(safe);
}
