/* What a model takes: named values, given as options (--static-shared 1024) or as CSV columns
 * (static_shared). One table a model drives both, the help text and the messages. */
#ifndef WARPWATCH_MODEL_PARAMETERS_H
#define WARPWATCH_MODEL_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/devices.h"

enum parameter_kind {
    PARAMETER_INTEGER,
    PARAMETER_NUMBER,
    PARAMETER_CAPABILITY, /* 9.0, 90 or sm_90; integer = 90 */
    PARAMETER_DEVICE,     /* a name of `warpwatch devices` */
    PARAMETER_BLOCKS,     /* a grid: a number of blocks or XxYxZ; integer = the product */
    PARAMETER_CHOICE,     /* integer = index in choices */
    PARAMETER_SWITCH,     /* present or not; as a column 0 or 1 */
    PARAMETER_TEXT        /* CSV only: carried through to the output */
};

struct parameter {
    const char *name; /* as a column; as an option `_` becomes `-` */
    const char *help;
    const char *const *choices; /* of CHOICE, ended by NULL */
    double least, most;         /* of INTEGER and NUMBER */
    enum parameter_kind kind;
    bool above;    /* `least` itself is too small */
    bool required; /* as an option; columns that are absent count as 0 */
};

struct argument {
    bool given;
    int64_t integer;
    double number; /* of NUMBER */
    const struct device *device;
};

/* Reads `text`; false if it is not acceptable. */
bool parameter_read(const struct parameter *parameter, const char *text, struct argument *argument);

/* "a whole number from 1 to 1024" and the like. */
void parameter_accepts(const struct parameter *parameter, char *text, size_t bytes);

enum { PARAMETER_OPTION_BYTES = 48, PARAMETER_ACCEPTS_BYTES = 512 };
void parameter_option(const struct parameter *parameter, char option[PARAMETER_OPTION_BYTES]);

#endif
