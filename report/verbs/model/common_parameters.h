/* What several models take, described and read in one place: a GPU, or its capability and SMs instead, and
 * what a block needs. */
#ifndef WARPWATCH_MODEL_COMMON_PARAMETERS_H
#define WARPWATCH_MODEL_COMMON_PARAMETERS_H

#include "verbs/model/answer.h"
#include "verbs/model/parameters.h"

/* Rows of a model's table, to stand in braces. */
#define PARAMETER_ROW_DEVICE .name = "device", .kind = PARAMETER_DEVICE, .help = "a GPU"
#define PARAMETER_ROW_CC                                                                                     \
    .name = "cc", .kind = PARAMETER_CAPABILITY, .help = "instead of --device, its compute capability"
#define PARAMETER_ROW_SMS                                                                                    \
    .name = "sms", .kind = PARAMETER_INTEGER, .least = 1, .most = 1 << 20,                                   \
    .help = "instead of --device, its SMs"
#define PARAMETER_ROW_REGISTERS                                                                              \
    .name = "registers", .kind = PARAMETER_INTEGER, .least = 0, .most = 255,                                 \
    .help = "registers of a thread", .required = true
#define PARAMETER_ROW_STATIC_SHARED                                                                          \
    .name = "static_shared", .kind = PARAMETER_INTEGER, .least = 0, .most = 49152, .help = "bytes of a block"
#define PARAMETER_ROW_NAME .name = "name", .kind = PARAMETER_TEXT, .help = ""

/* Where a model's arguments have them; cc or sms -1: the model does without. */
struct device_parameters {
    int device, cc, sms;
};

struct chosen_device {
    const struct device *device; /* NULL: only what stands for it */
    int compute_capability, sms; /* 0: the model does without */
};

/* False, with the answer refused, where something is missing or contradicts the device. */
bool device_parameters_read(const struct argument *arguments, struct device_parameters at,
                            struct chosen_device *chosen, struct answer *answer);

#endif
