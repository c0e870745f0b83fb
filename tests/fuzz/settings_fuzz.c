/* Fuzz target: the library's settings. The input is a list of values, each ended by a newline, of the
 * variables in their order here. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "shim/filter.h"
#include "shim/settings.h"

static const char *const variables[] = {"WARPWATCH_OUTPUT",  "WARPWATCH_LIVE",   "WARPWATCH_REPORT",
                                        "WARPWATCH_FILTER",  "WARPWATCH_TIMING", "WARPWATCH_COUNTERS",
                                        "WARPWATCH_TRACE",   "WARPWATCH_TIMES",  "WARPWATCH_TRACE_MB",
                                        "WARPWATCH_DISABLE", "WARPWATCH_QUIET"};
enum { VARIABLES = sizeof variables / sizeof *variables };

/* The program's own environment is replaced by one of ours: setenv is slow. */
static void read_values(char *text, size_t size)
{
    extern char **environ;
    char *environment[VARIABLES + 1], **own = environ, *end = text + size,
                                      *assignments = malloc(size + 64 * VARIABLES);
    size_t count = 0;
    if (!assignments) {
        abort();
    }
    char *out = assignments;
    for (; text < end && count < VARIABLES; count++) {
        size_t length = strcspn(text, "\n");
        environment[count] = out;
        out = stpcpy(stpcpy(out, variables[count]), "=");
        memcpy(out, text, length);
        out[length] = '\0';
        out += length + 1;
        text += length + 1;
    }
    environment[count] = NULL;
    environ = environment;
    settings_read();
    environ = own;
    free(assignments);
}

static void check(void)
{
    if (settings.problem_count > sizeof settings.problems / sizeof *settings.problems ||
        (settings.output[0] && settings.output[0] != '/') || (settings.live[0] && settings.live[0] != '/') ||
        strlen(settings.output) >= sizeof settings.output ||
        strlen(settings.filter) >= sizeof settings.filter || settings.trace_bytes < (1u << 20) ||
        settings.trace_bytes > (900u << 20)) {
        abort();
    }
}

/* Repetitions of repetitions and references back take glibc exponential time and memory: regcomp's own
 * affair. */
static bool is_cheap(const char *expression)
{
    return strpbrk(expression, "{\\*+") == NULL && strlen(expression) < 64;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    read_values(text, size);
    check();
    if (settings.filter[0] && is_cheap(settings.filter)) {
        if (filter_open(settings.filter)) {
            filter_leaves_out("_Z6vecaddPKfS0_Pfi");
        }
    }
    free(text);
    return 0;
}
