/* Reading the values of a model's parameters, strictly, and saying what they accept. */
#include "verbs/model/parameters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/occupancy.h"
#include "verbs/catalog.h"

static const int64_t grid_most[3] = {2147483647, 65535, 65535};
static const int64_t blocks_most = 2147483647LL * 65535 * 65535;

/* Decimal digits, an optional sign before and `.0` behind (tables turn whole numbers into it). The end of the
 * number, or NULL. */
static const char *read_digits(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    const char *c = text + (*text == '-' || *text == '+');
    int64_t sum = 0;
    const char *first = c;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (sum > (INT64_MAX - 9) / 10) {
            return NULL;
        }
        sum = sum * 10 + (*c - '0');
    }
    *value = negative ? -sum : sum;
    return c == first ? NULL : c;
}

static bool read_integer(const char *text, int64_t *value)
{
    const char *end = read_digits(text, value);
    if (end && *end == '.') {
        end += 1 + strspn(end + 1, "0");
    }
    return end && !*end;
}

static bool read_number(const char *text, double *value)
{
    if (!*text || text[strspn(text, "0123456789+-.eE")]) { /* no nan, no inf, no hexadecimal */
        return false;
    }
    char *end;
    *value = strtod(text, &end);
    *value = *value == 0 ? 0 : *value; /* −0 would be printed as such */
    return !*end && isfinite(*value);
}

static bool is_listed(int64_t capability)
{
    for (int i = 0; occupancy_capability_listed(i); i++) {
        if (occupancy_capability_listed(i) == capability) {
            return true;
        }
    }
    return false;
}

/* 9.0, 90, sm_90 and, for what a table made of 9.0, plain 9. */
static bool read_capability(const char *text, int64_t *capability)
{
    int64_t major = 0, minor = 0;
    if (strncasecmp(text, "sm_", 3) == 0) {
        text += 3;
    }
    const char *end = read_digits(text, &major);
    if (major < 0) {
        return false;
    }
    if (end && *end == '.') {
        if (major >= 100) {
            return false;
        }
        *capability = major * 10;
        return end[1] >= '0' && end[1] <= '9' && (end = read_digits(end + 1, &minor)) && !*end &&
               minor < 10 && is_listed(*capability += minor);
    }
    *capability = end && major < 20 ? major * 10 : major;
    return end && !*end && is_listed(*capability);
}

/* 1000, 40x25, 40,25,1. */
static bool read_blocks(const char *text, int64_t *blocks)
{
    int64_t side;
    const char *end = read_digits(text, blocks);
    if (end && !*end) {
        return *blocks >= 1 && *blocks <= blocks_most;
    }
    *blocks = 1;
    for (int i = 0; i < 3; i++) {
        end = read_digits(text, &side);
        if (!end || side < 1 || side > grid_most[i]) {
            return false;
        }
        *blocks *= side;
        if (!*end) {
            return true;
        }
        if (*end != 'x' && *end != ',') {
            return false;
        }
        text = end + 1;
    }
    return false;
}

static bool read_choice(const struct parameter *parameter, const char *text, int64_t *index)
{
    for (*index = 0; parameter->choices[*index]; ++*index) {
        if (strcmp(parameter->choices[*index], text) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_within(const struct parameter *parameter, double value)
{
    return value <= parameter->most &&
           (parameter->above ? value > parameter->least : value >= parameter->least);
}

bool parameter_read(const struct parameter *parameter, const char *text, struct argument *argument)
{
    argument->given = true;
    switch (parameter->kind) {
    case PARAMETER_INTEGER:
        return read_integer(text, &argument->integer) && is_within(parameter, (double)argument->integer);
    case PARAMETER_NUMBER:
        return read_number(text, &argument->number) && is_within(parameter, argument->number);
    case PARAMETER_CAPABILITY:
        return read_capability(text, &argument->integer);
    case PARAMETER_DEVICE:
        argument->device = catalog_find(text);
        return argument->device != NULL;
    case PARAMETER_BLOCKS:
        return read_blocks(text, &argument->integer);
    case PARAMETER_CHOICE:
        return read_choice(parameter, text, &argument->integer);
    case PARAMETER_SWITCH:
        return read_integer(text, &argument->integer) && (argument->integer == 0 || argument->integer == 1);
    case PARAMETER_TEXT:
    default:
        return true;
    }
}

/* "5.0, 5.2, … or 12.1" out of texts that `item` gives until it returns NULL. */
static void list(char *text, size_t bytes, const char *(*item)(const struct parameter *, size_t, char *),
                 const struct parameter *parameter)
{
    char scratch[2][32];
    size_t used = 0;
    const char *next = item(parameter, 0, scratch[0]);
    for (size_t i = 0; next && used < bytes; i++) {
        const char *here = next;
        next = item(parameter, i + 1, scratch[(i + 1) % 2]);
        int length = snprintf(text + used, bytes - used, "%s%s", i == 0 ? "" : next ? ", " : " or ", here);
        used += length > 0 ? (size_t)length : 0;
    }
}

static const char *capability_item(const struct parameter *parameter, size_t index, char *scratch)
{
    (void)parameter;
    int capability = occupancy_capability_listed((int)index);
    snprintf(scratch, 32, "%d.%d", capability / 10, capability % 10);
    return capability ? scratch : NULL;
}

static const char *choice_item(const struct parameter *parameter, size_t index, char *scratch)
{
    (void)scratch;
    return parameter->choices[index];
}

static const char *device_item(const struct parameter *parameter, size_t index, char *scratch)
{
    (void)parameter;
    (void)scratch;
    return index < catalog_count() ? catalog_at(index)->name : NULL;
}

void parameter_accepts(const struct parameter *parameter, char *text, size_t bytes)
{
    switch (parameter->kind) {
    case PARAMETER_INTEGER:
        snprintf(text, bytes, "a whole number from %.0f to %.0f", parameter->least, parameter->most);
        break;
    case PARAMETER_NUMBER:
        snprintf(text, bytes, "a number %s %.15g %s %.15g", parameter->above ? "above" : "from",
                 parameter->least, parameter->above ? "and up to" : "to", parameter->most);
        break;
    case PARAMETER_CAPABILITY:
        list(text, bytes, capability_item, parameter);
        break;
    case PARAMETER_DEVICE:
        list(text, bytes, device_item, parameter);
        break;
    case PARAMETER_BLOCKS:
        snprintf(text, bytes, "a number of blocks from 1 to %lld, or XxYxZ up to %lldx%lldx%lld",
                 (long long)blocks_most, (long long)grid_most[0], (long long)grid_most[1],
                 (long long)grid_most[2]);
        break;
    case PARAMETER_CHOICE:
        list(text, bytes, choice_item, parameter);
        break;
    case PARAMETER_SWITCH:
        snprintf(text, bytes, "0 or 1");
        break;
    case PARAMETER_TEXT:
    default:
        snprintf(text, bytes, "text");
        break;
    }
}

void parameter_option(const struct parameter *parameter, char option[PARAMETER_OPTION_BYTES])
{
    snprintf(option, PARAMETER_OPTION_BYTES, "--%s", parameter->name);
    for (char *c = option; *c; c++) {
        *c = *c == '_' ? '-' : *c;
    }
}
