/* Sentences with numbers as people read them: 412,345 · 49.8 % · 1.004 waves · 96 KB · 16 × 8. */
#ifndef WARPWATCH_FINDINGS_WORDS_H
#define WARPWATCH_FINDINGS_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct sentence {
    char text[768];
    size_t bytes;
};

void say(struct sentence *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum { WORD_BYTES = 128, NAME_BYTES = 80 };
const char *word_count(char word[WORD_BYTES], uint64_t value);
const char *word_percent(char word[WORD_BYTES], double fraction);
const char *word_waves(char word[WORD_BYTES], double waves);
const char *word_decimal(char word[WORD_BYTES], double value);
const char *word_bytes(char word[WORD_BYTES], uint64_t bytes);
const char *word_duration(char word[WORD_BYTES], double nanoseconds);
const char *word_plural(char word[WORD_BYTES], uint64_t value, const char *noun);
/* At most NAME_BYTES, cut between characters. */
const char *word_name(char word[WORD_BYTES], const char *name);

/* Words for one say(): their memory lasts to the end of the enclosing block. */
#define COUNT(value)        word_count((char[WORD_BYTES]){0}, (value))
#define PERCENT(fraction)   word_percent((char[WORD_BYTES]){0}, (fraction))
#define WAVES(waves)        word_waves((char[WORD_BYTES]){0}, (waves))
#define DECIMAL(value)      word_decimal((char[WORD_BYTES]){0}, (value))
#define BYTES(bytes)        word_bytes((char[WORD_BYTES]){0}, (bytes))
#define DURATION(ns)        word_duration((char[WORD_BYTES]){0}, (ns))
#define PLURAL(value, noun) word_plural((char[WORD_BYTES]){0}, (value), (noun))
#define NAME(name)          word_name((char[WORD_BYTES]){0}, (name))

#endif
