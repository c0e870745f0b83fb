/* Figures for people: rounded, grouped, with their unit. Each returns `text`. */
#ifndef WARPWATCH_MODEL_TEXT_H
#define WARPWATCH_MODEL_TEXT_H

#include <stdint.h>
#include <stdio.h>

enum { MODEL_TEXT_BYTES = 48 };

/* "37.5 %"; what is only nearly 0 % or 100 %: "<0.1 %", ">99.9 %". */
const char *text_percent(double fraction, char text[MODEL_TEXT_BYTES]);
/* "1,000,000". */
const char *text_count(uint64_t count, char text[MODEL_TEXT_BYTES]);
/* "1 block", "2,000 blocks". */
const char *text_counted(uint64_t count, const char *noun, char text[MODEL_TEXT_BYTES]);
/* "9.0". */
const char *text_capability(int compute_capability, char text[MODEL_TEXT_BYTES]);

/* A paragraph in lines of at most 100 characters, those behind the first indented. */
void text_paragraph(const char *paragraph, FILE *stream);

#endif
