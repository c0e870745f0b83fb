/* What the texts of a scan are put together from. */
#include "parts.h"

#include <stdlib.h>

#include "report/model/occupancy.h"
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

void format_limiters(char text[LIMITERS_BYTES], unsigned limiters)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < LIMITER_KINDS; i++) {
        if (limiters & 1u << i && used < LIMITERS_BYTES) {
            used += (size_t)snprintf(text + used, LIMITERS_BYTES - used, "%s%s", used ? "+" : "",
                                     limiter_names[i]);
        }
    }
}
