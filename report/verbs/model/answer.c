/* Answers: collected, then written as JSON or CSV. */
#include "verbs/model/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/occupancy.h"
#include "number_text.h"

void answer_clear(struct answer *answer)
{
    answer->count = 0;
    answer->faulty_parameter = -1;
}

static struct answer_value *next(struct answer *answer, const char *name, enum answer_kind kind)
{
    struct answer_value *value = &answer->values[answer->count];
    answer->count += answer->count < ANSWER_VALUES_MAX - 1;
    value->name = name;
    value->kind = kind;
    return value;
}

void answer_integer(struct answer *answer, const char *name, int64_t value)
{
    next(answer, name, ANSWER_INTEGER)->integer = value;
}

void answer_number(struct answer *answer, const char *name, double value)
{
    next(answer, name, ANSWER_NUMBER)->number = value;
}

void answer_boolean(struct answer *answer, const char *name, bool value)
{
    next(answer, name, ANSWER_BOOLEAN)->integer = value;
}

void answer_limiters(struct answer *answer, const char *name, unsigned limiters)
{
    next(answer, name, ANSWER_LIMITERS)->integer = limiters;
}

void answer_number_if(struct answer *answer, bool known, const char *name, double value)
{
    if (known) {
        answer_number(answer, name, value);
    } else {
        next(answer, name, ANSWER_UNKNOWN);
    }
}

void answer_integer_if(struct answer *answer, bool known, const char *name, int64_t value)
{
    if (known) {
        answer_integer(answer, name, value);
    } else {
        next(answer, name, ANSWER_UNKNOWN);
    }
}

void answer_refuse(struct answer *answer, int parameter, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(answer->problem, sizeof answer->problem, format, arguments);
    va_end(arguments);
    answer->faulty_parameter = parameter;
}

void answer_json_integer(cJSON *object, const char *name, int64_t value)
{
    char text[NUMBER_TEXT_BYTES];
    integer_text(value, text);
    cJSON_AddRawToObject(object, name, text);
}

void answer_json_number(cJSON *object, const char *name, double value)
{
    char text[NUMBER_TEXT_BYTES];
    number_text(value, text);
    cJSON_AddRawToObject(object, name, text);
}

static cJSON *json_limiters(unsigned limiters)
{
    cJSON *list = cJSON_CreateArray();
    for (int kind = 0; kind < LIMITER_KINDS; kind++) {
        if (limiters & 1u << kind) {
            cJSON_AddItemToArray(list, cJSON_CreateString(limiter_names[kind]));
        }
    }
    return list;
}

static void add_to_object(cJSON *object, const struct answer_value *value)
{
    switch (value->kind) {
    case ANSWER_INTEGER:
        answer_json_integer(object, value->name, value->integer);
        break;
    case ANSWER_NUMBER:
        answer_json_number(object, value->name, value->number);
        break;
    case ANSWER_BOOLEAN:
        cJSON_AddBoolToObject(object, value->name, value->integer != 0);
        break;
    case ANSWER_LIMITERS:
        cJSON_AddItemToObject(object, value->name, json_limiters((unsigned)value->integer));
        break;
    case ANSWER_UNKNOWN:
    default:
        cJSON_AddNullToObject(object, value->name);
        break;
    }
}

cJSON *answer_json(const struct answer *answer)
{
    cJSON *object = cJSON_CreateObject();
    for (int i = 0; i < answer->count; i++) {
        add_to_object(object, &answer->values[i]);
    }
    return object;
}

void answer_csv_value(const struct answer_value *value, struct buffer *row)
{
    char limiters[LIMITERS_TEXT_BYTES];
    switch (value->kind) {
    case ANSWER_INTEGER:
        buffer_signed(row, value->integer);
        break;
    case ANSWER_NUMBER:
        buffer_number(row, value->number);
        break;
    case ANSWER_BOOLEAN:
        buffer_char(row, value->integer ? '1' : '0');
        break;
    case ANSWER_LIMITERS:
        buffer_append(row, limiters, limiters_text((unsigned)value->integer, limiters));
        break;
    case ANSWER_UNKNOWN:
    default:
        break;
    }
}
