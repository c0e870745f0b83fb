/* What a model answers: a list of named values, shown as JSON or as CSV columns. */
#ifndef WARPWATCH_MODEL_ANSWER_H
#define WARPWATCH_MODEL_ANSWER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

enum answer_kind { ANSWER_UNKNOWN, ANSWER_INTEGER, ANSWER_NUMBER, ANSWER_BOOLEAN, ANSWER_LIMITERS };

struct answer_value {
    const char *name;
    enum answer_kind kind;
    int64_t integer; /* INTEGER, BOOLEAN; of LIMITERS the bits */
    double number;
};

enum { ANSWER_VALUES_MAX = 32, ANSWER_PROBLEM_BYTES = 640 };

struct answer {
    struct answer_value values[ANSWER_VALUES_MAX];
    int count;
    int faulty_parameter;               /* -1: the input makes sense */
    char problem[ANSWER_PROBLEM_BYTES]; /* to be read behind the parameter's name: " '0': give …" */
};

void answer_clear(struct answer *answer);

void answer_integer(struct answer *answer, const char *name, int64_t value);
void answer_number(struct answer *answer, const char *name, double value);
void answer_boolean(struct answer *answer, const char *name, bool value);
void answer_limiters(struct answer *answer, const char *name, unsigned limiters);
/* Number or integer if `known`, else unknown. */
void answer_number_if(struct answer *answer, bool known, const char *name, double value);
void answer_integer_if(struct answer *answer, bool known, const char *name, int64_t value);

/* The input makes no sense: which parameter, and what to say behind its name. */
void answer_refuse(struct answer *answer, int parameter, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

cJSON *answer_json(const struct answer *answer);
void answer_csv_value(const struct answer_value *value, struct buffer *row);

/* JSON numbers in full: cJSON itself prints 2⁵³ as 9.00719925474099e+15, and no more than 15 digits of a
 * fraction where that is close. */
void answer_json_integer(cJSON *object, const char *name, int64_t value);
void answer_json_number(cJSON *object, const char *name, double value);

#endif
