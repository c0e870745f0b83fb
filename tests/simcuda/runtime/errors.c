/* Names and descriptions of errors. Neither needs a driver. */
#include "runtime.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

#define DESCRIPTION_BYTES 64

struct error_text {
    cudaError_t error;
    const char *name;
    char description[DESCRIPTION_BYTES]; /* filled once, from the name, unless one is given here */
};

static struct error_text texts[] = {
#define RUNTIME_ERROR(name, description) {name, #name, description},
#include "errors.def"
#undef RUNTIME_ERROR
};
#define TEXTS_COUNT (sizeof(texts) / sizeof(texts[0]))

static pthread_once_t describe_once = PTHREAD_ONCE_INIT;
static const char unknown_text[] = "unrecognized error code";

/* cudaErrorStreamCaptureMerge -> stream capture merge */
static void describe_from_name(struct error_text *text)
{
    const char *from = text->name + strlen("cudaError");
    char *to = text->description;
    for (; *from != '\0' && to < text->description + DESCRIPTION_BYTES - 2; from++) {
        bool word_starts = isupper((unsigned char)from[0]) && islower((unsigned char)from[1]);
        if (word_starts && to != text->description) {
            *to++ = ' ';
        }
        *to++ = (char)(word_starts ? tolower((unsigned char)*from) : *from);
    }
    *to = '\0';
}

static void describe_all(void)
{
    for (size_t i = 0; i < TEXTS_COUNT; i++) {
        if (texts[i].description[0] == '\0') {
            describe_from_name(&texts[i]);
        }
    }
}

static const struct error_text *find_text(cudaError_t error)
{
    pthread_once(&describe_once, describe_all);
    for (size_t i = 0; i < TEXTS_COUNT; i++) {
        if (texts[i].error == error) {
            return &texts[i];
        }
    }
    return NULL;
}

RUNTIME_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
    const struct error_text *text = find_text(error);
    return text != NULL ? text->name : unknown_text;
}

RUNTIME_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
    const struct error_text *text = find_text(error);
    return text != NULL ? text->description : unknown_text;
}
