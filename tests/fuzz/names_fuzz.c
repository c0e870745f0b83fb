/* Fuzz target: names of kernels, demangled and shortened. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "report/names/demangle.h"
#include "report/names/distinguish.h"
#include "report/names/visible.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    if (!name) {
        return 0;
    }
    memcpy(name, data, size);
    name[size] = 0;
    char *full = demangle_full(name), *brief = demangle_short(name), *shown = brief ? visible(brief) : NULL;
    char *told[2];
    const char *halves[] = {name, name + size / 2};
    if (names_distinguish(halves, 2, told) == 0) {
        free(told[0]);
        free(told[1]);
    }
    free(name);
    free(full);
    free(brief);
    free(shown);
    return 0;
}
