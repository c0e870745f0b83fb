/* A POSIX extended regular expression, asked once for each kernel. */
#include "filter.h"

#include <regex.h>

static regex_t compiled;
static bool active;

bool filter_open(const char *expression)
{
    if (active) {
        regfree(&compiled);
    }
    active = false;
    if (expression[0] == '\0') {
        return true;
    }
    active = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) == 0;
    return active;
}

bool filter_leaves_out(const char *kernel)
{
    return active && regexec(&compiled, kernel, 0, (void *)0, 0) != 0;
}
