/* One model of `warpwatch model`: what it takes, what it answers, how it explains itself. */
#ifndef WARPWATCH_MODEL_VERB_H
#define WARPWATCH_MODEL_VERB_H

#include <stdio.h>

#include "verbs/model/answer.h"
#include "verbs/model/parameters.h"

struct model {
    const char *name;
    const char *summary; /* one line */
    const char *usage;   /* options in one line */
    const struct parameter *parameters;
    int parameters_count;
    const char *const *csv_columns; /* that --batch adds behind those given, ended by NULL */

    /* Computes. The values begin with those of csv_columns, in that order. */
    void (*answer)(const struct argument *arguments, struct answer *answer);
    /* What only JSON shows, lists and objects. May be NULL. */
    void (*add_details)(const struct argument *arguments, cJSON *object);
    /* The same for a person. */
    void (*explain)(const struct argument *arguments, FILE *stream);
};

enum { MODEL_PARAMETERS_MAX = 24 };

extern const struct model model_occupancy, model_waves, model_advise, model_divergence, model_coalescing,
    model_banks;

/* CSV from `input` to `output`, one line a row, an error a column of its own. Returns the exit status.
 * `defaults` were given as options and hold for every row that does not say otherwise. */
int model_batch(const struct model *model, const struct argument *defaults, FILE *input, FILE *output);

#endif
