/* Decimal numbers in text. With the headers of glibc 2.38 strtoull is __isoc23_strtoull@GLIBC_2.38: a library
 * built there would not load on older systems. */
#ifndef WARPWATCH_SHIM_DECIMAL_H
#define WARPWATCH_SHIM_DECIMAL_H

#include <stdint.h>

/* The digits at *text, which moves past them; UINT64_MAX stands for it and all that is more, 0 for no digit.
 */
static inline uint64_t decimal_read(const char **text)
{
    uint64_t number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text) {
        unsigned digit = (unsigned)(**text - '0');
        number = number <= (UINT64_MAX - digit) / 10 ? 10 * number + digit : UINT64_MAX;
    }
    return number;
}

/* All of `text`, or `otherwise` where it is NULL, empty, more than `most`, or no number. */
static inline uint64_t decimal_or(const char *text, uint64_t most, uint64_t otherwise)
{
    const char *end = text;
    uint64_t number = text && *text ? decimal_read(&end) : UINT64_MAX;
    return end && *end == '\0' && number <= most ? number : otherwise;
}

#endif
