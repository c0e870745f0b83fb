/* Figures for people. */
#include "verbs/model/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "number_text.h"

const char *text_percent(double fraction, char text[MODEL_TEXT_BYTES])
{
    double tenths = round(fraction * 1000);
    if (tenths >= 1000 && fraction < 1) {
        tenths = 999;
    }
    if (tenths <= 0 && fraction > 0) {
        tenths = 1;
    }
    bool whole = fmod(tenths, 10) == 0;
    snprintf(text, MODEL_TEXT_BYTES, whole ? "%.0f %%" : "%.1f %%", tenths / 10);
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

const char *text_blocks(uint64_t count, char text[MODEL_TEXT_BYTES])
{
    text_count(count, text);
    strcat(text, count == 1 ? " block" : " blocks");
    return text;
}

const char *text_capability(int compute_capability, char text[MODEL_TEXT_BYTES])
{
    snprintf(text, MODEL_TEXT_BYTES, "%d.%d", compute_capability / 10, compute_capability % 10);
    return text;
}
