/* Numbers and names for sentences. Rounding never makes something of nothing: 1.004 waves are not 1, and
 * 99.99 % are not 100 %. */
#include "words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void say(struct sentence *sentence, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = sizeof sentence->text - sentence->bytes;
    int length = vsnprintf(sentence->text + sentence->bytes, left, format, arguments);
    va_end(arguments);
    if (length > 0) {
        sentence->bytes += (size_t)length < left ? (size_t)length : left - 1;
    }
}

static void append(char word[WORD_BYTES], const char *text)
{
    size_t bytes = strlen(word);
    snprintf(word + bytes, WORD_BYTES - bytes, "%s", text);
}

const char *word_count(char word[WORD_BYTES], uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *out = word;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = '\0';
    return word;
}

#define LEAST_PERCENT 0.0001 /* told apart from none and from all */

/* As few decimals as keep the value apart from the nearest whole number. */
static void apart_from_whole(char word[WORD_BYTES], double value)
{
    int digits = 0;
    if (value != floor(value)) {
        double scale = 10;
        for (digits = 1; digits < 6 && round(value * scale) == scale * round(value); digits++) {
            scale *= 10;
        }
    }
    snprintf(word, WORD_BYTES, "%.*f", digits, value);
}

const char *word_waves(char word[WORD_BYTES], double waves)
{
    if (waves >= 100) {
        return word_count(word, (uint64_t)fmin(waves, 1e18));
    }
    if (waves < 0.1) {
        snprintf(word, WORD_BYTES, "%.3g", waves);
    } else {
        apart_from_whole(word, waves);
    }
    return word;
}

const char *word_percent(char word[WORD_BYTES], double fraction)
{
    double percent = fraction * 100, rounded = round(percent * 10) / 10;
    if (percent > 0 && percent < LEAST_PERCENT) {
        snprintf(word, WORD_BYTES, "<%g", LEAST_PERCENT);
    } else if (percent < 100 && percent > 100 - LEAST_PERCENT) {
        snprintf(word, WORD_BYTES, ">%g", 100 - LEAST_PERCENT);
    } else if (rounded == 0 || rounded == 100) {
        apart_from_whole(word, percent);
    } else {
        snprintf(word, WORD_BYTES, "%.*f", rounded == round(rounded) ? 0 : 1, rounded);
    }
    append(word, " %");
    return word;
}

const char *word_decimal(char word[WORD_BYTES], double value)
{
    if (fabs(value) >= 1000) {
        return word_count(word, (uint64_t)fmin(fabs(value), 1e18));
    }
    snprintf(word, WORD_BYTES, "%.3g", value);
    return word;
}

const char *word_bytes(char word[WORD_BYTES], uint64_t bytes)
{
    if (bytes < 1024 || (bytes % 1024 != 0 && bytes < 10240)) {
        word_count(word, bytes);
        append(word, bytes == 1 ? " byte" : " bytes");
    } else {
        snprintf(word, WORD_BYTES, "%.4g KB", (double)bytes / 1024);
    }
    return word;
}

const char *word_duration(char word[WORD_BYTES], double nanoseconds)
{
    static const struct {
        double least;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {0, "ns"}};
    size_t unit = 0;
    while (nanoseconds < units[unit].least) {
        unit++;
    }
    double scale = units[unit].least > 0 ? units[unit].least : 1;
    word_decimal(word, nanoseconds / scale);
    append(word, " ");
    append(word, units[unit].unit);
    return word;
}

const char *word_plural(char word[WORD_BYTES], uint64_t value, const char *noun)
{
    word_count(word, value);
    size_t length = strlen(noun);
    const char *ending = value == 1 ? "" : noun[length - 1] == 'h' || noun[length - 1] == 's' ? "es" : "s";
    append(word, " ");
    append(word, noun);
    append(word, ending);
    return word;
}

const char *word_name(char word[WORD_BYTES], const char *name)
{
    size_t length = strlen(name), kept = length;
    if (length > NAME_BYTES) {
        kept = NAME_BYTES - 3;
        while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80) {
            kept--;
        }
    }
    snprintf(word, WORD_BYTES, "%.*s%s", (int)kept, name, kept < length ? "…" : "");
    return word;
}
