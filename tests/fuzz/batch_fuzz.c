/* Fuzz target: a table for `warpwatch model NAME --batch`. The first byte chooses the model. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "report/cli.h"
#include "report/verbs/model/model.h"

static const struct model *const models[] = {&model_occupancy,  &model_waves,      &model_advise,
                                             &model_divergence, &model_coalescing, &model_banks};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct argument defaults[MODEL_PARAMETERS_MAX];
    static FILE *nowhere;
    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    const struct model *model = models[size ? data[0] % (sizeof models / sizeof *models) : 0];
    FILE *input = size > 1 ? fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r") : NULL;
    if (!nowhere || (size > 1 && !input)) {
        abort();
    }
    if (input) {
        int status = model_batch(model, defaults, input, nowhere);
        if (status != EXIT_OK && status != EXIT_USAGE && status != EXIT_UNREADABLE) {
            abort();
        }
        fclose(input);
    }
    return 0;
}
