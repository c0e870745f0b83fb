/* Which GPU a model is asked about. */
#include "verbs/model/common_parameters.h"

#include "verbs/model/text.h"

/* A figure of the device that may be given without one. */
struct figure {
    int parameter;
    int of_device; /* if there is a device */
    const char *(*text)(int value, char text[MODEL_TEXT_BYTES]);
};

static const char *text_plain(int value, char text[MODEL_TEXT_BYTES])
{
    snprintf(text, MODEL_TEXT_BYTES, "%d", value);
    return text;
}

/* Without a device it must be given; beside one it has to agree. */
static bool read_figure(const struct argument *arguments, struct figure figure, const struct device *device,
                        int *value, struct answer *answer)
{
    const struct argument *given = &arguments[figure.parameter];
    char text[MODEL_TEXT_BYTES];
    if (!device && !given->given) {
        answer_refuse(answer, figure.parameter, ": is missing; give it or a device");
        return false;
    }
    *value = device ? figure.of_device : (int)given->integer;
    if (given->given && given->integer != *value) {
        answer_refuse(answer, figure.parameter, ": give %s, which is that of %s, or only one of the two",
                      figure.text(*value, text), device->name);
        return false;
    }
    return true;
}

bool device_parameters_read(const struct argument *arguments, struct device_parameters at,
                            struct chosen_device *chosen, struct answer *answer)
{
    const struct device *device = arguments[at.device].given ? arguments[at.device].device : NULL;
    *chosen = (struct chosen_device){.device = device};
    struct figure capability = {at.cc, device ? device->compute_capability : 0, text_capability};
    struct figure sms = {at.sms, device ? device->sms : 0, text_plain};
    return (at.cc < 0 || read_figure(arguments, capability, device, &chosen->compute_capability, answer)) &&
           (at.sms < 0 || read_figure(arguments, sms, device, &chosen->sms, answer));
}
