/* Doubles as text, in full and fast: the batch modes print millions of them. */
#ifndef WARPWATCH_NUMBER_TEXT_H
#define WARPWATCH_NUMBER_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { NUMBER_TEXT_BYTES = 32 };

/* Decimal text that reads back as the same double, 15 digits where they suffice, else 17. Finite values
 * only. Writes at most NUMBER_TEXT_BYTES with the terminator; returns the length. */
size_t number_text(double value, char text[NUMBER_TEXT_BYTES]);
size_t integer_text(int64_t value, char text[NUMBER_TEXT_BYTES]);

#endif
