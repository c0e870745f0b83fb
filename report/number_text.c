/* Numbers as text. printf takes a good 0.3 µs for 17 digits; 128-bit integers give the same digits in a tenth
 * of that: a double is m × 2^e exactly, for usual magnitudes m × 10^k fits in 128 bits, and one shift rounds
 * it. */
#include "number_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNIFICANT = 17, DOUBLE_BITS = 53 };
static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const double tenths[] = {1e-1, 1e-2, 1e-3, 1e-4};
static const double least_fast = 1e-4, beyond_fast = 1e15;

size_t integer_text(int64_t value, char text[NUMBER_TEXT_BYTES])
{
    char reversed[NUMBER_TEXT_BYTES];
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t count = 0, length = 0;
    do {
        reversed[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) {
        text[length++] = '-';
    }
    while (count) {
        text[length++] = reversed[--count];
    }
    text[length] = 0;
    return length;
}

/* Decimals that make SIGNIFICANT digits. */
static int decimals_for(double magnitude)
{
    int decimals = SIGNIFICANT;
    for (int digits = 0; digits < 15 && magnitude >= powers_of_ten[digits]; digits++) {
        decimals--;
    }
    for (int zeros = 0; zeros < 4 && magnitude < tenths[zeros]; zeros++) {
        decimals++;
    }
    return decimals;
}

/* magnitude × 10^decimals, rounded to nearest, ties to even, as printf rounds. */
static uint64_t scale(double magnitude, int decimals)
{
    __extension__ typedef unsigned __int128 wide;
    int exponent;
    wide product = (wide)ldexp(frexp(magnitude, &exponent), DOUBLE_BITS);
    for (int i = 0; i < decimals; i++) {
        product *= 10;
    }
    int shift = DOUBLE_BITS - exponent;
    wide whole = product >> shift, rest = product - (whole << shift), half = (wide)1 << (shift - 1);
    return (uint64_t)whole + (rest > half || (rest == half && (whole & 1)));
}

/* Both operands are exact, so the division rounds once, as reading the text would. */
static bool reads_back(uint64_t digits, int decimals, double magnitude)
{
    return (double)digits / powers_of_ten[decimals] == magnitude;
}

static size_t place_point(uint64_t digits, int decimals, char *text)
{
    char number[NUMBER_TEXT_BYTES];
    while (decimals > 0 && digits % 10 == 0) {
        digits /= 10;
        decimals--;
    }
    int count = (int)integer_text((int64_t)digits, number);
    char *out = text;
    int whole = count - decimals;
    for (int i = whole > 0 ? 0 : whole - 1; i < count; i++) { /* from the units digit on, zeros if need be */
        if (i == whole) {
            *out++ = '.';
        }
        *out++ = i < 0 ? '0' : number[i];
    }
    *out = 0;
    return (size_t)(out - text);
}

static size_t print_slowly(double value, char *text)
{
    int length = snprintf(text, NUMBER_TEXT_BYTES, "%.15g", value);
    if (strtod(text, NULL) != value) {
        length = snprintf(text, NUMBER_TEXT_BYTES, "%.17g", value);
    }
    return (size_t)length;
}

size_t number_text(double value, char text[NUMBER_TEXT_BYTES])
{
    double magnitude = fabs(value);
    if (magnitude < beyond_fast && magnitude == floor(magnitude)) {
        return integer_text((int64_t)value, text);
    }
    if (!(magnitude >= least_fast && magnitude < beyond_fast)) {
        return print_slowly(value, text);
    }
    int decimals = decimals_for(magnitude);
    uint64_t digits = scale(magnitude, decimals), fewer = (digits + 50) / 100;
    size_t sign = value < 0;
    text[0] = '-';
    if (reads_back(fewer, decimals - 2, magnitude)) {
        return sign + place_point(fewer, decimals - 2, text + sign);
    }
    return sign + place_point(digits, decimals, text + sign);
}
