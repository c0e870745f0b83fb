/* Names of one template have the same structure, so that words at one place correspond. Places are taken one
 * after the other, each time the one that splits the names into most classes. */
#include "distinguish.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 400, NAMES_MOST = 2000, TOLD_MOST = 4, WORD_MOST_BYTES = 60 };

struct word {
    const char *at;
    uint32_t bytes;
};

struct words {
    struct word *list;
    uint32_t count;
};

struct naming {
    struct words *names;
    uint32_t *classes; /* names of the same class are not told apart yet */
    uint32_t *order;
    size_t count;
    uint32_t places, classes_count;
    uint32_t chosen[TOLD_MOST];
    unsigned chosen_count;
};

/* --- words --------------------------------------------------------------------------------------------- */

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* "3ul" → "3" */
static uint32_t without_suffix(const char *at, uint32_t bytes)
{
    while (isdigit((unsigned char)*at) && bytes > 1 && (at[bytes - 1] == 'u' || at[bytes - 1] == 'l')) {
        bytes--;
    }
    return bytes;
}

/* Namespaces are left out, for what follows them counts, and so are the numbers of lambdas. */
static bool words_of(const char *name, struct words *words)
{
    words->list = malloc(WORDS_MOST * sizeof *words->list);
    for (const char *at = name; words->list && *at && words->count < WORDS_MOST;) {
        const char *end = at + (*at == '-' && isdigit((unsigned char)at[1]));
        while (is_part(*end)) {
            end++;
        }
        bool counts = strncmp(end, "::", 2) != 0 && (at == name || at[-1] != '#');
        if (end > at && counts) {
            words->list[words->count++] = (struct word){at, without_suffix(at, (uint32_t)(end - at))};
        }
        at = end > at ? end : at + 1;
    }
    return words->list != NULL;
}

static struct word word_at(const struct words *words, uint32_t place)
{
    return place < words->count ? words->list[place] : (struct word){"", 0};
}

static int compare_words(struct word left, struct word right)
{
    uint32_t common = left.bytes < right.bytes ? left.bytes : right.bytes;
    int order = memcmp(left.at, right.at, common);
    return order ? order : (left.bytes > right.bytes) - (left.bytes < right.bytes);
}

/* --- classes ------------------------------------------------------------------------------------------- */

struct place {
    const struct naming *naming;
    uint32_t index;
};

static int by_class_then_word(const void *left, const void *right, void *context)
{
    const struct place *place = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct naming *naming = place->naming;
    if (naming->classes[a] != naming->classes[b]) {
        return naming->classes[a] < naming->classes[b] ? -1 : 1;
    }
    return compare_words(word_at(&naming->names[a], place->index), word_at(&naming->names[b], place->index));
}

/* How many classes there are if the word at `place` counts too; `refine`: from now on. */
static uint32_t classes_with(struct naming *naming, uint32_t index, bool refine)
{
    struct place place = {naming, index};
    qsort_r(naming->order, naming->count, sizeof *naming->order, by_class_then_word, &place);
    uint32_t count = 1;
    uint32_t *fresh = refine ? malloc(naming->count * sizeof *fresh) : NULL;
    for (size_t i = 0; i < naming->count; i++) {
        count += i > 0 && by_class_then_word(&naming->order[i - 1], &naming->order[i], &place) != 0;
        if (fresh) {
            fresh[naming->order[i]] = count;
        }
    }
    if (fresh) {
        memcpy(naming->classes, fresh, naming->count * sizeof *fresh);
        naming->classes_count = count;
    }
    free(fresh);
    return count;
}

static bool is_flag(const struct naming *naming, uint32_t place)
{
    struct word word = word_at(&naming->names[0], place);
    return (word.bytes == 4 && !memcmp(word.at, "true", 4)) ||
           (word.bytes == 5 && !memcmp(word.at, "false", 5));
}

/* Of equal gain a word or number goes before true and false, then the first. False: none gains. */
static bool choose(struct naming *naming)
{
    uint32_t best = 0, most = naming->classes_count;
    bool flag = true;
    for (uint32_t place = 0; place < naming->places; place++) {
        uint32_t classes = classes_with(naming, place, false);
        if (classes > most ||
            (classes == most && most > naming->classes_count && flag && !is_flag(naming, place))) {
            most = classes;
            best = place;
            flag = is_flag(naming, place);
        }
    }
    if (most == naming->classes_count) {
        return false;
    }
    naming->chosen[naming->chosen_count++] = best;
    classes_with(naming, best, true);
    return naming->classes_count == most; /* else out of memory: what is chosen stands */
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static bool naming_open(struct naming *naming, const char *const *names, size_t count)
{
    *naming = (struct naming){.names = calloc(count, sizeof *naming->names),
                              .classes = calloc(count, sizeof *naming->classes),
                              .order = calloc(count, sizeof *naming->order),
                              .count = count,
                              .classes_count = 1};
    bool held = naming->names && naming->classes && naming->order;
    for (size_t i = 0; held && i < count; i++) {
        naming->order[i] = (uint32_t)i;
        held = words_of(names[i], &naming->names[i]);
        naming->places = naming->names[i].count > naming->places ? naming->names[i].count : naming->places;
    }
    return held;
}

static void naming_close(struct naming *naming)
{
    for (size_t i = 0; naming->names && i < naming->count; i++) {
        free(naming->names[i].list);
    }
    free(naming->names);
    free(naming->classes);
    free(naming->order);
}

static int ascending(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static char *tell(const struct naming *naming, size_t name)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    for (unsigned i = 0; out && i < naming->chosen_count; i++) {
        struct word word = word_at(&naming->names[name], naming->chosen[i]);
        uint32_t shown = word.bytes < WORD_MOST_BYTES ? word.bytes : WORD_MOST_BYTES;
        fprintf(out, "%s%.*s", i ? ", " : "", shown ? (int)shown : 1, shown ? word.at : "-");
    }
    if (!out || fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

int names_distinguish(const char *const *names, size_t count, char **told)
{
    struct naming naming;
    memset(told, 0, count * sizeof *told);
    if (count < 2 || count > NAMES_MOST) {
        return 0;
    }
    bool held = naming_open(&naming, names, count);
    while (held && naming.classes_count < count && naming.chosen_count < TOLD_MOST && choose(&naming)) {
    }
    qsort(naming.chosen, naming.chosen_count, sizeof *naming.chosen, ascending);
    for (size_t i = 0; held && naming.chosen_count > 0 && i < count; i++) {
        told[i] = tell(&naming, i);
        held = told[i] != NULL;
    }
    naming_close(&naming);
    return held ? 0 : -1;
}
